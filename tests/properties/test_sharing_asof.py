"""As-of joins that share: each gets the oracle's rows, push by push as alone, beside others and window joins."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import TimeWindow
from dovetail.plan.share_queries import signature
from dovetail.testing import Close, Push, assert_same_rows, assert_subset, oracle, play, play_event
from tests.properties.queries import FILTERS, Draw, RandomQuery
from tests.properties.scripts import scripts
from tests.properties.shared_queries import ORDERS, rows_of
from tests.properties.test_asof import asof_queries, few_rows_are_cleared_away
from tests.properties.test_match import match_queries
from tests.properties.test_sharing import assert_isolated
from tests.properties.test_tables import table_queries

__all__ = ["few_rows_are_cleared_away"]
COLUMNS = ["ts", "i", "s", "x"]


def member(draw: Draw, drawn: RandomQuery, name: str, same: bool) -> dv.Query:
    """Another query over the streams: its own columns, words, conditions and order; with ``same`` the same answers."""
    own = next(each.name for each in drawn.streams if each.asof is None and each.match is None)
    others = [each for each in drawn.streams if each.name != own]
    chosen = draw(st.lists(st.sampled_from(COLUMNS), max_size=2, unique=True))
    right = ["i"] if same else draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2, unique=True))
    select = [f"{own}.ts AS own_ts", *(f"{own}.{column} AS own_{column}_" for column in chosen)]
    select += [f"{each.name}.{column} AS {each.name}{column}" for each in others for column in right]
    on = drawn.on
    if draw(st.integers(0, 2)) == 2:
        on += " AND " + draw(st.sampled_from(FILTERS)).format(a=own)
    words = {each.name: draw(st.sampled_from(["inner", "left"])) for each in others}
    how = words if others[0].match is None else words[others[0].name]
    made = dv.join(*drawn.streams, on=on, select=", ".join(select), how=how, order=draw(st.sampled_from(ORDERS)))
    return made.named(name)


def beside(drawn: RandomQuery) -> dv.Query:
    """A window join of the same streams."""
    streams = [replace(each, asof=None, window=TimeWindow(4)) for each in drawn.streams]
    first, *others = (each.name for each in streams)
    on = " AND ".join(f"{first}.i = {each}.i" for each in others)
    return dv.join(*streams, on=on, select=f"{first}.ts AS own_ts").named("window")


@settings(max_examples=50)
@given(st.data())
def test_as_of_joins_share(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries() | table_queries() | match_queries())
    names = [f"q{at}" for at in range(data.draw(st.integers(2, 4)))]
    members = [member(data.draw, drawn, name, data.draw(st.booleans())) for name in names]
    if all(each.table is None and each.match is None for each in drawn.streams) and data.draw(st.booleans()):
        members.append(beside(drawn))
    script = data.draw(scripts(drawn, ticks=True, tied=data.draw(st.booleans())))
    shared = dv.share(*members)
    event("several in one operator" if len(shared.groups.plans) < len(members) else "each its own")
    assert_isolated(shared, members, script, data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2)))
    together = play(shared.local(), script)
    for query in members:
        assert_same_rows(rows_of(together, query), oracle(query.model, script).rows)


@settings(max_examples=30)
@given(st.data())
def test_as_of_joins_come_and_go(data: st.DataObject) -> None:
    """One that joins answers rows that come after it, all from ``complete_from`` on; the others do not notice."""
    drawn = data.draw(asof_queries())
    script = data.draw(scripts(drawn, late=False))
    stays, leaves, joins = (member(data.draw, drawn, name, same=True) for name in ("stays", "leaves", "joins"))
    run, alone = dv.share(stays, leaves).local(), {query.name: query.local() for query in (stays, leaves, joins)}
    at = data.draw(st.integers(0, len(script) - 1))
    found, whole = list[pa.Table](), list[pa.Table]()
    joined = signature(joins.model) in {signature(stays.model), signature(leaves.model)}
    for place, happening in enumerate(script):
        if place == at:
            joined = joined or not any(isinstance(each, Push) for each in script[:place])
            if joined:
                run.add(joins)
            run.remove("leaves")
            run = dv.share(stays, *[joins] * joined).local(snapshot=run.snapshot())
        rows = play_event(run, happening)
        assert_same_rows(rows_of(rows, stays), play_event(alone["stays"], happening))
        if place < at:
            assert_same_rows(rows_of(rows, leaves), play_event(alone["leaves"], happening))
        else:
            assert "leaves" not in rows["query"].to_pylist()
        whole.append(play_event(alone["joins"], happening))
        found.append(rows_of(rows, joins) if joined and place >= at else whole[-1].slice(0, 0))
    assert isinstance(script[-1], Close)
    own, expected = pa.concat_tables(found), pa.concat_tables(whole)
    assert_subset(own, expected)
    if joined:
        since = run.metrics()["queries"]["joins"]["complete_from"]
        late = [
            rows.filter(rows["result_time"].cast(pa.int64()).to_numpy() >= (since or 0)) for rows in (own, expected)
        ]
        assert_same_rows(*late)
        event("joined")
