"""Rows come out exactly when the watermarks make them certain.

After every event of a script, what is out so far is what the oracle says must be: no row earlier and none later.
"""

from typing import Any

import pyarrow as pa
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.testing import Script, assert_same_rows, certain, play_event
from tests.properties.queries import RandomQuery
from tests.properties.scripts import scripts
from tests.properties.test_asof import asof_queries, few_rows_are_cleared_away, with_a_word_each
from tests.properties.test_match import match_queries
from tests.properties.test_orders import ORDERS
from tests.properties.test_outer import outer_queries
from tests.properties.test_stepwise import dense, stepwise_queries
from tests.properties.test_tables import table_queries
from tests.properties.test_threads import small_pushes

__all__ = ["few_rows_are_cleared_away"]
ANY_ORDER = ["none", "none", *ORDERS]


def check(query: dv.Query, script: Script, pauses: frozenset[int] = frozenset(), threads: int = 1) -> None:
    """Event by event; at each pause go on from a snapshot."""
    run, out, early = query.local(threads=threads), query.schema.empty_table(), 0
    for place, happening in enumerate(script, 1):
        if place in pauses:
            run = query.local(snapshot=run.snapshot(), threads=threads)
        out = pa.concat_tables([out, play_event(run, happening)])
        assert_same_rows(out, certain(query.model, script[:place]))
        early = out.num_rows if place < len(script) else early
    event(f"rows before the end: {'none' if not early else 'some'}")


def pauses(data: st.DataObject, script: Script) -> frozenset[int]:
    return data.draw(st.frozensets(st.integers(1, len(script)), max_size=2))


def endless(drawn: RandomQuery) -> bool:
    """Whether some rows are certain at the end only, for which an ordered output waits."""
    return any(isinstance(each.window, TimeWindow) and each.window.unbounded for each in drawn.streams)


@given(st.data())
def test_as_of_joins(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries() | asof_queries() | table_queries() | match_queries())
    script = data.draw(scripts(drawn, ticks=True, tied=data.draw(st.booleans())))
    how: Any = drawn.how if any(each.match for each in drawn.streams) else with_a_word_each(data.draw, drawn)
    query = drawn.build(how=how, order=data.draw(st.sampled_from(ANY_ORDER)))
    check(query, script, pauses(data, script))


@given(st.data())
def test_outer_semi_and_anti_joins_of_two_streams(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries(rows=data.draw(st.booleans())))
    script = data.draw(scripts(drawn, ticks=True))
    counted = any(isinstance(each.window, RowWindow) for each in drawn.streams)
    query = drawn.build(order="none" if counted else data.draw(st.sampled_from(ANY_ORDER)))
    check(query, script, pauses(data, script))


@given(st.data())
def test_a_word_for_each_stream(data: st.DataObject) -> None:
    drawn = data.draw(stepwise_queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build(order="none" if endless(drawn) else data.draw(st.sampled_from(ANY_ORDER)))
    check(query, script, pauses(data, script))


@settings(max_examples=15)
@given(st.integers(0, 1_000_000), st.sampled_from(ANY_ORDER))
@example(230, "none")  # a row of the second stream that ends with that of the first is not asked
@example(5003, "sync")  # a row at the door keeps one of the first stream from leaving
def test_a_word_for_each_stream_where_many_partners_meet(seed: int, order: str) -> None:
    drawn, script = dense(seed)
    check(drawn.build(order="none" if endless(drawn) else order), script, frozenset({1 + seed % len(script)}))


@given(st.data())
def test_threads(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries() | outer_queries() | stepwise_queries(most=3))
    script = data.draw(scripts(drawn))
    query = drawn.build(order="none" if endless(drawn) else data.draw(st.sampled_from(ANY_ORDER)))
    with small_pushes():
        check(query, script, threads=2)
