"""The real parts of a pipeline, made as ``query.spark()`` makes them, for a session that is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import pyarrow as pa
from pyspark import TaskContext

from dovetail.model.never_null import noted_schema
from dovetail.model.query import JoinQuery
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import Member, SharedPlan
from dovetail.runtime.spark import pipeline
from dovetail.runtime.spark.clock import needs_clock
from dovetail.runtime.spark.layout import Layout
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import Output, output_of
from dovetail.runtime.spark.pack import Packer
from tests.simulation.cases import CASES


@dataclass(frozen=True)
class Pipeline:
    """Packers by stream, the operator's job, and how results leave it; ``members``: queries that share it."""

    query: JoinQuery
    schema: pa.Schema
    packers: dict[str, Packer]
    layout: Layout
    job: Job
    output: Output
    ticks: bool
    members: tuple[Member, ...] = ()

    @property
    def can_move(self) -> bool:
        """Whether its state goes over to other partitions: what is spilled, left out or shared stays where it is."""
        return self.query.budget is None and not self.members

    @property
    def sheds(self) -> bool:
        """Whether results may be missing, and how many depends on the time that work takes."""
        return self.job.paced


@cache
def pipeline_of(case: str, partitions: int) -> Pipeline:
    """The pipeline of a case over so many shuffle partitions."""
    shared = CASES[case].shared()
    return made_of(CASES[case].query().plan if shared is None else shared.plan, partitions, shared)


def made_of(plan: Plan, partitions: int, shared: SharedPlan | None = None) -> Pipeline:
    """The pipeline of a query, or of the union of those that share an operator."""
    layouts = pipeline._layouts(plan.query, partitions, shared)
    layout, kept = layouts.plan(), (pipeline._operator_plan(plan) if shared is None else plan).columns
    job = replace(pipeline._job_over(plan, layouts, (), "run", shared), leaves_files=True)
    rows = noted_schema(plan.query) if shared is None else shared.schema
    output = output_of(rows, pipeline._sorts(plan.query, layout.grid, shared is not None))
    packers = pipeline._packers(plan, kept, layout, whole=False, leaves_files="run")
    schema, members = (plan.query.schema, ()) if shared is None else (shared.schema, shared.members)
    return Pipeline(plan.query, schema, packers, layout, job, output, needs_clock(plan.query), members)


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
