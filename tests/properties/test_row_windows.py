"""Row windows, alone and beside time windows, against the oracle."""

from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow
from dovetail.testing import assert_same_rows, oracle, ordered, play
from tests.properties.queries import Draw, RandomQuery, queries, row_windows, time_windows
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_orders import ORDERS, resumed


@st.composite
def row_queries(draw: Draw, most: int = 4) -> RandomQuery:
    drawn: RandomQuery = draw(queries(most))
    windows = row_windows() | row_windows() | time_windows()
    return drawn.with_windows(*(draw(windows) for _ in drawn.streams))


@given(st.data())
def test_row_windows_give_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(row_queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_row_windows_per_key(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    counts = [data.draw(st.integers(1, 3)) for _ in drawn.streams]
    try:
        query = drawn.with_windows(*(RowWindow(count, "key") for count in counts)).build()
    except (dv.PlanError, dv.QueryError):
        event("a stream without a key")
        return
    script = data.draw(scripts(drawn))
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_row_windows_in_order(data: st.DataObject) -> None:
    drawn = data.draw(row_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(st.data())
def test_row_windows_depend_neither_on_cuts_nor_on_pauses(data: st.DataObject) -> None:
    drawn = data.draw(row_queries(most=3))
    script = data.draw(scripts(drawn, late=False))
    query = drawn.build()
    expected = play(query.local(), one_by_one(script))
    assert_same_rows(play(query.local(), data.draw(recut(script))), expected)
    assert_same_rows(resumed(query, script, data.draw(st.integers(0, len(script) - 1))), expected)
