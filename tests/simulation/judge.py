"""Tells a story to the real code and compares with the oracle: what was lost, repeated, wrong, or is unexplained."""

import traceback
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.buffer.section import Changes
from dovetail.plan.share_queries import Member
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.spark.state import BucketState
from dovetail.runtime.spark.variables import state_variables
from dovetail.testing import Script, oracle, ordered
from dovetail.testing.compare import _counted
from tests.properties.hot import eager_splits
from tests.simulation.cluster import Cluster
from tests.simulation.driver import Driver
from tests.simulation.pipeline import Pipeline, pipeline_of, task
from tests.simulation.sink import output
from tests.simulation.story import FAR_S, Story
from tests.spark.queries import SECOND


@dataclass
class Verdict:
    """Rows that were lost, repeated and wrong, and what else cannot be explained; ``left_out``: as a budget allows."""

    seed: int
    faults: int = 0
    lost: int = 0
    repeated: int = 0
    wrong: int = 0
    unexplained: list[str] = field(default_factory=list)
    left_out: int = 0
    struck: set[str] = field(default_factory=set)

    @property
    def good(self) -> bool:
        return not (self.lost or self.repeated or self.wrong or self.unexplained)


@eager_splits()
def judge(story: Story) -> Verdict:
    """Tell a story; nothing that goes wrong in it escapes."""
    sink = output(story.sink)
    pipeline = sink.behind(pipeline_of(story.case, story.partitions))
    cluster = Cluster.of(pipeline, story.partitions, story.executors)
    driver = Driver(story, pipeline, cluster, sink)
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
    verdict.struck = {fault.kind for fault in driver.struck}
    return verdict


def _compare(driver: Driver, verdict: Verdict) -> None:
    made = driver.pipeline
    rows = driver.sink.rows(made.schema)
    got, wanted = _early(rows), _early(truth(made, driver.story.script()))
    missing, extra = wanted - got, got - wanted
    verdict.lost, verdict.left_out = (0, missing.total()) if made.sheds else (missing.total(), 0)
    verdict.repeated = sum(count for row, count in extra.items() if row in wanted)
    verdict.wrong = sum(count for row, count in extra.items() if row not in wanted)
    if not all(ordered(own) for own in _in_order(made, rows)):
        verdict.unexplained.append("the output is out of order")


def truth(made: Pipeline, script: Script) -> pa.Table:
    """What a query must give; of several that share an operator, what each must give alone, under its name."""
    if not made.members:
        return oracle(made.query, script).rows
    return pa.concat_tables(_named(each, oracle(each.query, script).rows, made.schema) for each in made.members)


def _named(member: Member, rows: pa.Table, schema: pa.Schema) -> pa.Table:
    known = {"query": pa.repeat(member.name, rows.num_rows)} | {name: rows[name] for name in rows.column_names}
    return pa.table([known.get(each.name, pa.nulls(rows.num_rows, each.type)) for each in schema], schema)


def _in_order(made: Pipeline, rows: pa.Table) -> Iterator[pa.Table]:
    """The rows of each query that asked for an order."""
    for member in made.members:
        if member.query.order != "none":
            yield rows.filter(pc.equal(rows["query"], member.name))
    if not made.members and made.query.order != "none":
        yield rows


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
