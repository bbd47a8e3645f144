"""Outer, semi and anti joins of two streams against the oracle."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dovetail.testing import assert_same_rows, oracle, ordered, play
from tests.properties.queries import Draw, RandomQuery, queries, row_windows, time_windows
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_orders import ORDERS, resumed

HOWS = ["left", "right", "full", "semi", "anti"]


@st.composite
def outer_queries(draw: Draw, rows: bool = False) -> RandomQuery:
    how = draw(st.sampled_from(HOWS))
    drawn: RandomQuery = draw(queries(most=2))
    windows = time_windows() | row_windows() if rows else time_windows()
    select = "A.ts AS t, A.i AS i, A.s || '!' AS s" if how in ("semi", "anti") else drawn.select
    return replace(drawn.with_windows(draw(windows), draw(windows)), how=how, select=select)


@given(st.data())
def test_outer_joins_give_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_outer_joins_in_order(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(st.data())
def test_outer_joins_depend_neither_on_cuts_nor_on_pauses(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries())
    script = data.draw(scripts(drawn, late=False))
    query = drawn.build()
    expected = play(query.local(), one_by_one(script))
    assert_same_rows(play(query.local(), data.draw(recut(script))), expected)
    assert_same_rows(resumed(query, script, data.draw(st.integers(0, len(script) - 1))), expected)


@given(st.data())
def test_outer_joins_over_row_windows(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries(rows=True))
    script = data.draw(scripts(drawn))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_outer_joins_over_row_windows_in_order_and_with_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries(rows=True))
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    rows = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)
