"""Queries that are taken to other partitions half-way, with faults before and after: nothing lost or repeated."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.model.fingerprint import fingerprint
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.local import carried_over, complete_from
from dovetail.testing import oracle, ordered
from dovetail.testing.changed import changed_oracle
from tests.simulation.cases import CASES, Case
from tests.simulation.cluster import Cluster
from tests.simulation.driver import Driver
from tests.simulation.judge import _early, truth
from tests.simulation.move import dealt_to, snapshot_left_by
from tests.simulation.pipeline import Pipeline, made_of, pipeline_of
from tests.simulation.sink import output
from tests.simulation.story import Story, story_of

OTHER_STORY = ("query is taken to other partitions", "all is restored from a copy and planned otherwise")
HOWS = ("inner", "left", "right", "full", "semi", "anti")
MIGRATING = [name for name in CASES if pipeline_of(name, 1).can_move]


def halves(story: Story, partitions: int) -> tuple[Story, Story]:
    """The story up to a batch in its middle, and the rest of it on other partitions; each has its own faults."""
    cut = len(story.batches) // 2
    faults = [fault for fault in story.faults if fault.kind not in OTHER_STORY]
    early = tuple(fault for fault in faults if fault.batch < cut)
    late = tuple(replace(fault, batch=fault.batch - cut) for fault in faults if fault.batch >= cut)
    return (
        replace(story, batches=story.batches[:cut], faults=early),
        replace(story, batches=story.batches[cut:], faults=late, partitions=partitions),
    )


def told(story: Story, made: Pipeline, cluster: Cluster) -> tuple[pa.Table, Cluster]:
    """The rows of a story, and where it has left its state: a fault may have taken the query to other partitions."""
    sink = output(story.sink)
    made = sink.behind(made)
    cluster.pipeline = made
    cluster.start()
    driver = Driver(story, made, cluster, sink)
    driver.run()
    return driver.sink.rows(made.schema), driver.cluster


@pytest.mark.parametrize("case", MIGRATING)
def test_other_partitions_half_way(case: str) -> None:
    for seed in (11, 12):
        story = story_of(seed, case)
        first, second = halves(story, partitions=1 + story.partitions % 4)
        made, again = (pipeline_of(case, half.partitions) for half in (first, second))
        cluster = Cluster.of(made, first.partitions, first.executors)
        before, cluster = told(first, made, cluster)
        other = dealt_to(again, snapshot_left_by(cluster), second.partitions, second.executors)
        after, _ = told(second, again, other)
        expected = _early(truth(made, story.script()))
        assert _early(before) + _early(after) == expected, f"seed {seed}"
        assert made.query.order == "none" or ordered(pa.concat_tables([before, after]))


@dataclass(frozen=True)
class Change:
    """Options of the query before and after, where each half runs, and whether all rows are those of the new query."""

    old: dict[str, Any] = field(default_factory=dict)
    new: dict[str, Any] = field(default_factory=dict)
    runs: tuple[str, str] = ("spark", "spark")
    same_rows: bool = True


CHANGES = {
    "other partitions": Change(),
    "into order": Change({}, {"order": "hold"}),
    "out of order": Change({"order": "sync"}, {"order": "none"}),
    "another way to order": Change({"order": "hold"}, {"order": "adaptive"}),
    "other algorithms": Change({}, {"algorithm": "scan"}),
    "a wider window": Change({}, {"window": "6 seconds"}, same_rows=False),
    "a narrower window": Change({}, {"window": "2 seconds"}, same_rows=False),
    "a wider window in order": Change({"order": "hold"}, {"order": "hold", "window": "9 seconds"}, same_rows=False),
    "a narrower window in order": Change({"order": "hold"}, {"order": "hold", "window": "1 second"}, same_rows=False),
    "another column": Change({}, {"also": "A.g AS more"}, same_rows=False),
    "a column less": Change({"also": "A.g AS more"}, {}),
    "embedded to Spark": Change(runs=("embedded", "spark")),
    "Spark to embedded": Change(runs=("spark", "embedded")),
}
JOINS = {
    **{f"{how} join": Case("AB", "A.k = B.k AND A.n < B.n", {"how": how}) for how in HOWS},
    "band join": Case("AB", "ABS(A.n - B.n) <= 3"),
    "join by any expression": Case("AB", "(A.n + B.n) % 11 = 0"),
    "join of three on two keys": Case("ABC", "A.k = B.k AND B.g = C.g"),
    "join of last rows": Case("AB", "A.k = B.k", {"window": {"A": dv.rows(3, per="key"), "B": "4 seconds"}}),
    **{
        name: CASES[name]
        for name in ("as of", "words by stream", "table", "nearest match", "no repeats", "no repeats in a full join")
    },
    **{name: CASES[name] for name in ("no window", "aggregates")},
}


def changed(join: str, options: Mapping[str, Any]) -> dv.Query:
    """The query of a join with some options of a change; ``also`` is one more column of its results."""
    case = JOINS[join]
    own = case.options
    how = {name: value for name, value in {**options, **own}.items() if name != "also"}
    if "window" in options and isinstance(own.get("window"), dict):
        how["window"] = {**own["window"], "B": options["window"]}
    if "order" in options and case.groups is None:
        how["order"] = options["order"]
    given = case.given
    if case.as_of and "window" in options:  # what a window is to others
        best = {"ttl": options["window"]} if "key" in given["B"] else {"asof": dv.asof(tolerance=options["window"])}
        given = {"B": given["B"] | best}
    if case.as_of or "match" in given.get("B", {}):
        how.pop("algorithm", None)  # there is one way to store such rows
    also = (options["also"],) if "also" in options else ()
    return replace(case, options=how, given=given, also=also).query()


def half(story: Story, query: dv.Query, where: str, begin: bytes | None, last: bool) -> tuple[pa.Table, bytes]:
    """One half of a story, on Spark or embedded: its rows, and what it leaves."""
    if where == "embedded":
        run = query.local(snapshot=begin, threads=1)
        schema = query.schema
        rows = [pa.Table.from_batches(run.operator.push(batch.rows), schema) for batch in story.batches if batch.rows]
        return pa.concat_tables([schema.empty_table(), *rows]), run.snapshot()
    made = made_of(query.plan, story.partitions)
    if begin is None:
        cluster = Cluster.of(made, story.partitions, story.executors)
    else:
        cluster = dealt_to(made, begin, story.partitions, story.executors)
    rows, cluster = told(story, made, cluster)
    return rows, b"" if last else snapshot_left_by(cluster)


def from_time(rows: pa.Table, since_us: int) -> pa.Table:
    since = pa.scalar(since_us, pa.int64()).cast(rows.schema.field("result_time").type)
    return rows.filter(pc.greater_equal(rows["result_time"], since))


def _windows_of_times(query: dv.Query) -> bool:
    return all(isinstance(stream.window, TimeWindow) for stream in query.model.streams)


def why_refused(change: str, old: JoinQuery, new: JoinQuery) -> str | None:
    """What cannot be done without a wrong row, or was never asked for; None if a query goes over to the other."""
    if fingerprint(old) == fingerprint(new):
        return None
    if new.answered is not None or new.aggregation is not None:
        return "not that of one window join"
    if [stream.dedup for stream in old.streams] != [stream.dedup for stream in new.streams]:
        return "the streams of the two queries differ"  # an id is remembered for as long as the window is
    if "window" in CHANGES[change].new and (new.stepwise or any(map(_endless, new.streams))):
        return "stay as they are"
    lacks_rows = new.how != "inner" or any(isinstance(stream.window, RowWindow) for stream in new.streams)
    was, now = (plan_query(query).columns for query in (old, new))
    lacks_column = any(not set(now[name]) <= set(was[name]) for name in now)
    return "or start without a state" if lacks_column and lacks_rows else None


def _endless(stream: Stream) -> bool:
    return isinstance(stream.window, TimeWindow) and stream.window.unbounded


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_every_join(change: str, join: str) -> None:
    """With faults before and after it; what cannot be done without a wrong row is refused."""
    how = CHANGES[change]
    old, new = changed(join, how.old), changed(join, how.new)
    plain = "inner on one key" if len(JOINS[join].names) == 2 else "inner on chain of keys"
    story = story_of(21, join if join in CASES else plain)
    first, second = halves(story, partitions=1 + story.partitions % 4)
    before, left = half(first, old, how.runs[0], None, last=False)
    reason = why_refused(change, old.model, new.model)
    if reason is not None:
        with pytest.raises(dv.StateError, match=reason):
            carried_over(old.plan, new.plan, left)
        return
    left = carried_over(old.plan, new.plan, left)
    since = complete_from(new.plan, left) or 0
    after, _ = half(second, new, how.runs[1], left, last=True)
    whole = _early(oracle(new.model, story.script()).rows)
    if how.same_rows:
        assert _early(before.select(new.schema.names)) + _early(after) == whole
    elif _windows_of_times(old) and "window" in how.new:
        both = changed_oracle(old.model, new.model, first.script(), second.script())
        assert _early(before) + _early(after) == _early(both)
        later, alone = (_early(from_time(rows, since)) for rows in (both, oracle(new.model, story.script()).rows))
        assert later == alone if since else not alone - later, "from then on as if it had always been so"
    else:
        got, known = _early(after), _early(half(first, new, "embedded", None, last=False)[0])
        waited = _early(oracle(old.model, first.script()).rows) - _early(before)
        assert not got - (whole - known) - waited, "never a wrong row, never one twice"
        later = _early(from_time(oracle(new.model, story.script()).rows, since)) - known
        assert not later - got, "nothing is missing from then on"
    assert new.model.order == "none" or ordered(after)
    if "none" not in (old.model.order, new.model.order):
        assert ordered(pa.concat_tables([before.select(new.schema.names), after]))
