"""An engine that follows by changes, or is restored from all changes so far, goes on as if it had been there."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.model.order import Adaptive
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.testing import Script, assert_same_rows, oracle, ordered
from tests.properties.queries import Draw, RandomQuery, queries, row_windows, time_windows
from tests.properties.scripts import scripts
from tests.properties.test_aggregates import aggregating
from tests.properties.test_orders import ORDERS
from tests.properties.test_outer import outer_queries
from tests.properties.test_row_windows import row_queries
from tests.recovery.failover import Team, tell
from tests.unit.engine.batches import together

STEPS = st.sampled_from(["save", "save", "follow", "swap", "restore", "nothing"])


def play_with_failures(query: dv.Query, script: Script, draw: Draw) -> pa.Table:
    """Between any two events something may happen; what was not saved would be lost, so failures follow a save."""
    team, results = Team(query), []
    for event in script:
        results.append(tell(team.leader, event))
        step = draw(STEPS)
        if step != "nothing":
            team.save()
        if step in ("follow", "swap", "restore"):
            getattr(team, step)()
        if isinstance(query.model.order, Adaptive):
            (readings,) = team.leader.statistics()
            team.leader.adopt(replace(readings.decision, waits=draw(st.sampled_from(["sync", "hold"]))))
    team.save()
    team.follow()
    in_time = {stream.name for stream in query.model.streams if isinstance(stream.window, TimeWindow)}
    left = {section for section, _ in team.store}
    assert not {"held", "live"} & left
    assert not any(section.endswith(f"/{name}") for section in left for name in in_time), "the last rows stay, no more"
    return pa.concat_tables(results)


def check(query: dv.Query, script: Script, draw: Draw) -> None:
    rows = play_with_failures(query, script, draw)
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
def test_inner_joins(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    script = data.draw(together(data.draw(scripts(drawn, ticks=True))))
    check(drawn.build(), script, data.draw)


@given(st.data())
def test_outer_semi_and_anti_joins(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries(rows=data.draw(st.booleans())))
    script = data.draw(together(data.draw(scripts(drawn))))
    check(drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS]))), script, data.draw)


@given(st.data())
def test_row_windows(data: st.DataObject) -> None:
    drawn = data.draw(row_queries(most=3))
    script = data.draw(together(data.draw(scripts(drawn))))
    check(drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS]))), script, data.draw)


@st.composite
def keyed_queries(draw: Draw) -> RandomQuery:
    """Row windows per key, also of preserved streams."""
    windows = st.builds(RowWindow, st.integers(1, 2), st.just("key")) | row_windows() | time_windows()
    drawn: RandomQuery = draw(outer_queries() | queries(most=2)).with_windows(draw(windows), draw(windows))
    return drawn


@given(st.data())
def test_row_windows_per_key(data: st.DataObject) -> None:
    drawn = data.draw(keyed_queries())
    try:
        query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    except dv.PlanError:
        return
    script = data.draw(together(data.draw(scripts(drawn))))
    check(query, script, data.draw)


@given(st.data())
def test_ordered_inner_joins(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    script = data.draw(together(data.draw(scripts(drawn, ticks=True))))
    check(drawn.build(order=data.draw(st.sampled_from(ORDERS))), script, data.draw)


@given(st.data())
def test_aggregates(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating(most=2))
    script = data.draw(together(data.draw(scripts(drawn, ticks=True))))
    check(query, script, data.draw)


def test_another_algorithm_can_go_on_from_the_same_state() -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    a, b = (dv.stream(name, time="ts", window="1 second", schema=schema) for name in "AB")
    hashed, scanned = (dv.join(a, b, on="A.k = B.k", select="A.k", algorithm=word) for word in ("hash", "scan"))
    rows = pa.table({"ts": [1, 2, 3], "k": [1, 2, 1]}, schema=schema)
    run = hashed.local()
    run.push("A", rows)
    assert scanned.local(snapshot=run.snapshot()).push("B", rows)["k"].to_pylist() == [1, 1, 2, 1, 1]
    assert Engine(scanned.plan).metrics()["results"] == 0
