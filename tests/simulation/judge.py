"""Tells a story to the real code and compares with the oracle: what was lost, repeated, wrong, or is unexplained."""

import traceback
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.buffer.section import Changes
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.spark.state import BucketState
from dovetail.runtime.spark.variables import state_variables
from dovetail.testing import oracle, ordered
from dovetail.testing.compare import _counted
from tests.properties.hot import eager_splits
from tests.simulation.cluster import Cluster
from tests.simulation.driver import Driver
from tests.simulation.pipeline import pipeline_of, task
from tests.simulation.sink import Output
from tests.simulation.story import FAR_S, Story
from tests.spark.queries import SECOND


@dataclass
class Verdict:
    """How many rows were lost, repeated and wrong, and what else cannot be explained."""

    seed: int
    faults: int = 0
    lost: int = 0
    repeated: int = 0
    wrong: int = 0
    unexplained: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.lost or self.repeated or self.wrong or self.unexplained)


@eager_splits()
def judge(story: Story) -> Verdict:
    """Tell a story; nothing that goes wrong in it escapes."""
    pipeline = pipeline_of(story.case, story.partitions)
    cluster = Cluster.of(pipeline, story.partitions, story.executors)
    driver = Driver(story, pipeline, cluster, Output(story.sink))
    verdict = Verdict(story.seed)
    try:
        driver.run()
        _compare(driver, verdict)
        verdict.unexplained += [*driver.oddities, *_state_oddities(driver.cluster)]
        if driver.sink.again:
            verdict.unexplained.append(f"the sink was called again for batches that were done: {driver.sink.again}")
    except Exception:
        verdict.unexplained.append(traceback.format_exc(limit=-8))
    verdict.faults = len(driver.struck)
    return verdict


def _compare(driver: Driver, verdict: Verdict) -> None:
    query = driver.pipeline.query
    rows = driver.sink.rows(query.schema)
    got, wanted = _early(rows), _early(oracle(query, driver.story.script()).rows)
    missing, extra = wanted - got, got - wanted
    verdict.lost = missing.total()
    verdict.repeated = sum(count for row, count in extra.items() if row in wanted)
    verdict.wrong = sum(count for row, count in extra.items() if row not in wanted)
    if query.order != "none" and not ordered(rows):
        verdict.unexplained.append("the output is out of order")


def _early(rows: pa.Table) -> Counter[Hashable]:
    """What was certain before the far end of the story."""
    end = pa.scalar(FAR_S * SECOND, pa.int64()).cast(rows.schema.field("result_time").type)
    return _counted(rows.filter(pc.less(rows["result_time"], end)))


def _state_oddities(cluster: Cluster) -> list[str]:
    """Whether the state holds what an operator that goes on from it would write, and nothing else."""
    found = []
    job = cluster.pipeline.job
    for partition, store in enumerate(cluster.stores):
        transaction = store.open(max(store.versions), executor=-1)
        for key in {place[0] for place in transaction.values}:
            transaction.key = key
            with task(partition, cluster.partitions):
                state = BucketState(state_variables(transaction, job.spills))  # type: ignore[arg-type]
                layout = job.layouts.here()
                head = state.head(job.identity.fingerprints(layout), "")
            parts = StateParts()
            parts.bind(state.parts)
            fresh = job.operator(parts)
            slices = dict(state.load_all())
            assert head is not None
            fresh.apply(Changes(slices, [], head.header))
            left = fresh.changes()
            if left.new or left.gone:
                found.append(f"bucket {key}: who goes on from the state adds {list(left.new)} and drops {left.gone}")
    return found
