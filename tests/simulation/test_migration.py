"""Queries that are taken to other partitions half-way, with faults before and after: nothing lost or repeated."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest

from dovetail.engine.buffer.section import Changes
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.spark import pipeline
from dovetail.runtime.spark.resume import gathered, parts_of
from dovetail.runtime.spark.state import STATE, BucketState
from dovetail.runtime.spark.variables import state_variables
from dovetail.testing import oracle, ordered
from tests.simulation.cases import CASES
from tests.simulation.cluster import Cluster
from tests.simulation.driver import Driver
from tests.simulation.judge import _early
from tests.simulation.pipeline import Pipeline, pipeline_of, task
from tests.simulation.sink import Output
from tests.simulation.story import Story, story_of

MIGRATING = [name for name, case in CASES.items() if "budget" not in case.options]


def halves(story: Story, partitions: int) -> tuple[Story, Story]:
    """The story up to a batch in its middle, and the rest of it on other partitions; each has its own faults."""
    cut = len(story.batches) // 2
    early = tuple(fault for fault in story.faults if fault.batch < cut)
    late = tuple(replace(fault, batch=fault.batch - cut) for fault in story.faults if fault.batch >= cut)
    return (
        replace(story, batches=story.batches[:cut], faults=early),
        replace(story, batches=story.batches[cut:], faults=late, partitions=partitions),
    )


def left_by(cluster: Cluster) -> list[Changes]:
    """The states of all buckets, in order of their cells."""
    job, found = cluster.pipeline.job, {}
    for partition, store in enumerate(cluster.stores):
        transaction = store.open(max(store.versions), executor=-1)
        for number in [number for number in cluster.layout.numbers if cluster.owner(number) == partition]:
            transaction.key = (number,)
            with task(partition, cluster.partitions):
                state = BucketState(state_variables(transaction, job.spills))  # type: ignore[arg-type]
                head = state.head(job.identity.fingerprints(job.layouts.here()), "")
            assert head is not None, "every bucket has been told of every stream"
            found[number] = Changes(dict(state.load_all()), [], head.header)
    return [found[number] for number in cluster.layout.numbers]


def told(story: Story, made: Pipeline, cluster: Cluster) -> pa.Table:
    driver = Driver(story, made, cluster, Output(story.sink))
    driver.run()
    return driver.sink.rows(made.query.schema)


@pytest.mark.parametrize("case", MIGRATING)
def test_other_partitions_half_way(case: str) -> None:
    for seed in (11, 12):
        story = story_of(seed, case)
        first, second = halves(story, partitions=1 + story.partitions % 4)
        made = pipeline_of(case, first.partitions)
        cluster = Cluster.of(made, first.partitions, first.executors)
        before = told(first, made, cluster)
        plan = plan_query(pipeline._bare(made.query))
        snapshot = gathered(plan, made.job.plan, made.layout, left_by(cluster))
        again = pipeline_of(case, second.partitions)
        other = Cluster.of(again, second.partitions, second.executors)
        parts = parts_of(snapshot, plan, again.job.plan, again.layout)
        frames = [
            pd.DataFrame({"bucket": [number], STATE: [part]})
            for number, part in zip(again.layout.numbers, parts, strict=True)
        ]
        other.initial = dict(zip(again.layout.numbers, frames, strict=True))
        after = told(second, again, other)
        expected = _early(oracle(made.query, story.script()).rows)
        assert _early(before) + _early(after) == expected, f"seed {seed}"
        assert made.query.order == "none" or ordered(pa.concat_tables([before, after]))
