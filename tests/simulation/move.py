"""A query taken to other partitions as by ``query.migrate``: gathered, dealt out, written in a batch without rows.

The state that comes of it is called by the number that the next batch asks for.
"""

import numpy as np
import pandas as pd

from dovetail.engine.buffer.section import Changes
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.operator_of import operator_of
from dovetail.runtime.spark import pipeline
from dovetail.runtime.spark.resume import gathered, parts_of
from dovetail.runtime.spark.state import STATE, BucketState
from dovetail.runtime.spark.variables import state_variables
from tests.simulation.cluster import Cluster
from tests.simulation.pipeline import Pipeline, task


def snapshot_left_by(cluster: Cluster, version: int | None = None) -> bytes:
    """What the query has left in the last version of its state, or in an earlier one."""
    made = cluster.pipeline
    return gathered(plan_query(pipeline._bare(made.query)), made.job.plan, made.layout, _left_by(cluster, version))


def _left_by(cluster: Cluster, version: int | None) -> list[Changes]:
    """The states of all buckets, in order of their cells."""
    job, found = cluster.pipeline.job, {}
    for partition, store in enumerate(cluster.stores):
        transaction = store.open(max(store.versions) if version is None else version, executor=-1)
        for number in [number for number in cluster.layout.numbers if cluster.owner(number) == partition]:
            transaction.key = (number,)
            with task(partition, cluster.partitions):
                state = BucketState(state_variables(transaction, job.spills))  # type: ignore[arg-type]
                head = state.head(job.identity.fingerprints(job.layouts.here()), "")
            if head is not None:
                found[number] = Changes(dict(state.load_all()), [], head.header)
    assert len(found) in (0, len(cluster.layout.numbers)), "a batch tells every bucket of every stream, or has no rows"
    return [found[number] if found else operator_of(job.plan).state() for number in cluster.layout.numbers]


def dealt_to(made: Pipeline, snapshot: bytes, partitions: int, executors: int) -> Cluster:
    """A cluster that begins with a snapshot of the query."""
    cluster = Cluster.of(made, partitions, executors)
    plan, numbers = plan_query(pipeline._bare(made.query)), made.layout.numbers
    parts = parts_of(snapshot, plan, made.job.plan, made.layout)
    frames = [pd.DataFrame({"bucket": [number], STATE: [part]}) for number, part in zip(numbers, parts, strict=True)]
    cluster.initial = dict(zip(numbers, frames, strict=True))
    return cluster


def moved(cluster: Cluster, made: Pipeline, version: int, partitions: int) -> Cluster:
    """The same query over other partitions, on the same workers, with the state that ``version`` had."""
    other = dealt_to(made, snapshot_left_by(cluster, version), partitions, len(cluster.workers))
    dice = np.random.default_rng(0)
    for partition, store in enumerate(other.stores):
        attempt = other.attempt(partition, 0, [], other.workers[0], dice).finish()
        store.versions = {version: dict(attempt.transaction.values)}
    other.initial, other.workers, other.run = {}, cluster.workers, cluster.run
    other.start()
    return other
