"""Isolation of queries of every kind in one operator: outer, semi, anti and aggregating ones beside inner ones."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow
from dovetail.runtime.shared import SharedRun
from dovetail.testing import assert_same_rows, oracle, ordered, play_event
from tests.properties.queries import FILTERS, OUTPUTS, Draw, RandomQuery, queries, row_windows, time_windows
from tests.properties.scripts import scripts
from tests.properties.shared_queries import ORDERS, SCHEDULES, other_window, rows_of
from tests.properties.test_aggregates import AGGREGATES, KEYS
from tests.properties.test_sharing import assert_isolated

HOWS = ["inner", "left", "right", "full", "semi", "anti"]


@st.composite
def one_of_many(draw: Draw, drawn: RandomQuery, name: str, aggregates: bool = True) -> dv.Query:
    """A query over the same streams with the same predicate, of any kind."""
    names = [stream.name for stream in drawn.streams]
    query = drawn.with_windows(*(other_window(draw, stream.window) for stream in drawn.streams))
    extra = [draw(st.sampled_from(FILTERS)).format(a=name) for name in names if draw(st.integers(0, 3)) == 3]
    on = " AND ".join([query.on, *extra])
    order = draw(st.sampled_from(ORDERS))
    if aggregates and draw(st.integers(0, 2)) == 2:
        return aggregating(draw, replace(query, on=on), order).named(name)
    how = draw(st.sampled_from(HOWS if len(names) == 2 else HOWS[:1]))
    seen = names[:1] if how in ("semi", "anti") else names
    chosen = [draw(st.sampled_from(OUTPUTS)).format(a=each) for each in seen]
    return replace(query, on=on, select=", ".join(chosen), how=how).build(order=order).named(name)


def aggregating(draw: Draw, query: RandomQuery, order: str) -> dv.Query:
    a, b = draw(st.permutations([stream.name for stream in query.streams]))[:2]
    items = [f"{draw(st.sampled_from(AGGREGATES)).format(a=a, b=b, at=at)}" for at in range(draw(st.integers(1, 2)))]
    keys = [draw(st.sampled_from(KEYS)).format(a=a, b=b) for _ in range(draw(st.integers(0, 1)))]
    types = {"{a}.i": "i", "{a}.s": "s", "{a}.x": "x", "{a}.j": "j", "{a}.i % 2": "e", "{a}.s || {b}.s": "t"}
    named = {text.format(a=a, b=b): name for text, name in types.items()}
    select = ", ".join([*(f"{key} AS key_{named[key]}" for key in keys), *items])
    text = f"SELECT {select} FROM {', '.join(s.name for s in query.streams)} WHERE {query.on}"
    text += f" GROUP BY {', '.join(keys)}" if keys else ""
    return dv.sql(text, *query.streams, order=order)


def checked(data: st.DataObject, drawn: RandomQuery, aggregates: bool = True) -> None:
    made = range(data.draw(st.sampled_from([1, 2, 4, 8])))
    members = [data.draw(one_of_many(drawn, f"query {at}", aggregates)) for at in made]
    shared = dv.share(*members, schedule=data.draw(st.sampled_from(SCHEDULES)))
    script = data.draw(scripts(drawn, ticks=True))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    assert_isolated(shared, members, script, pauses)


@given(st.data())
def test_time_windows(data: st.DataObject) -> None:
    checked(data, data.draw(queries(most=3)))


@given(st.data())
def test_row_windows(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=2))
    windows = row_windows() | time_windows()
    checked(data, drawn.with_windows(*(data.draw(windows) for _ in drawn.streams)), aggregates=False)


@settings(max_examples=25)
@given(st.data())
def test_row_windows_per_key(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=2))
    try:
        checked(data, drawn.with_windows(*(RowWindow(1, "key") for _ in drawn.streams)), aggregates=False)
    except dv.PlanError:
        event("a stream without a key")


@given(st.data())
def test_a_run_that_owns_its_time_gives_the_same_rows(data: st.DataObject) -> None:
    """Arrivals are taken in, and some pieces of work are done in between; all is out at the end, in order."""
    drawn = data.draw(queries(most=3))
    members = [data.draw(one_of_many(drawn, f"query {at}")) for at in range(data.draw(st.integers(1, 4)))]
    shared = dv.share(*members, schedule=data.draw(st.sampled_from(SCHEDULES)))
    script = data.draw(scripts(drawn))
    run, results = SharedRun(shared.groups, block_rows=data.draw(st.sampled_from([1, 3])), eager=False), []
    for happening in script:
        results.append(play_event(run, happening))
        left = iter(range(data.draw(st.integers(0, 4))))
        results.append(run._table(run.operator.work(lambda: next(left, None) is not None)))  # type: ignore[attr-defined]  # noqa: B023
    rows = pa.concat_tables(results)
    assert not run.suspended
    for query in members:
        own = rows_of(rows, query)
        assert_same_rows(own, oracle(query.model, script).rows)
        assert query.model.order == "none" or ordered(own)
