"""The real parts of a pipeline, made as ``query.spark()`` makes them, for a session that is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

from pyspark import TaskContext

from dovetail.model.never_null import noted_schema
from dovetail.model.query import JoinQuery
from dovetail.plan.physical import Plan
from dovetail.runtime.spark import pipeline
from dovetail.runtime.spark.clock import needs_clock
from dovetail.runtime.spark.identity import identity
from dovetail.runtime.spark.layout import Layout, Layouts
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import Output, output_of
from dovetail.runtime.spark.pack import Packer
from tests.simulation.cases import CASES


@dataclass(frozen=True)
class Pipeline:
    """Packers by stream, the operator's job, and how results leave it."""

    query: JoinQuery
    packers: dict[str, Packer]
    layout: Layout
    job: Job
    output: Output
    ticks: bool


@cache
def pipeline_of(case: str, partitions: int) -> Pipeline:
    """The pipeline of a case over so many shuffle partitions."""
    return made_of(CASES[case].query().plan, partitions)


def made_of(plan: Plan, partitions: int) -> Pipeline:
    """The pipeline of a query."""
    layouts = Layouts(pipeline._bare(plan.query), partitions)
    layout, kept = layouts.plan(), pipeline._operator_plan(plan).columns
    job = pipeline._job(plan, identity(plan.query, kept), layouts, (), "run")
    job = replace(job, leaves_files=True)
    output = output_of(noted_schema(plan.query), pipeline._sorts(plan.query, layout.grid, False))
    packers = pipeline._packers(plan, kept, layout, whole=False, leaves_files="run")
    return Pipeline(plan.query, packers, layout, job, output, needs_clock(plan.query))


@contextmanager
def task(partition: int, partitions: int) -> Iterator[None]:
    """Inside, Python code finds itself in a task of a streaming query."""
    context = TaskContext()
    context._partitionId = partition
    context._localProperties = {
        "sql.streaming.queryId": "query",
        "spark.sql.streaming.internal.stateStore.partitions": str(partitions),
    }
    TaskContext._setTaskContext(context)
    try:
        yield
    finally:
        TaskContext._setTaskContext(None)
