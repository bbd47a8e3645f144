"""Ordered outputs: the rows of the oracle, in non-decreasing result time over the whole life of the query."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Script, assert_same_rows, oracle, ordered, play, play_event
from tests.properties.queries import queries
from tests.properties.scripts import scripts

ORDERS = ["sync", "hold", "adaptive"]


@given(st.data())
def test_ordered_output_has_the_rows_of_the_oracle(data: st.DataObject) -> None:
    drawn = data.draw(queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(st.data())
def test_order_survives_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    pause = data.draw(st.integers(0, len(script) - 1))
    rows = resumed(query, script, pause)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(st.data())
def test_kept_late_rows_never_break_the_order(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)), late="keep")
    assert ordered(play(query.local(), script))


def resumed(query: dv.Query, script: Script, pause: int, threads: tuple[int, int] = (1, 1)) -> pa.Table:
    """Play a script with one pause in the middle; ``threads`` before it and after it."""
    run = query.local(threads=threads[0])
    results: list[Any] = [play_event(run, event) for event in script[:pause]]
    again = query.local(snapshot=run.snapshot(), threads=threads[1])
    return pa.concat_tables(results + [play_event(again, event) for event in script[pause:]])
