"""Joins without windows: every row counts, however old, as long as input goes on and after it has ended."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, assert_subset, oracle, ordered
from tests.properties.queries import Draw, RandomQuery, queries
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS, resumed
from tests.properties.test_threads import small_pushes

HOWS = ["inner", "left", "right", "full", "semi", "anti"]


@st.composite
def unbounded_queries(draw: Draw, most: int = 3) -> RandomQuery:
    """Some streams without a window, others with one of time; of two streams any kind of join."""
    drawn: RandomQuery = draw(queries(most=most))
    windows = [draw(st.sampled_from([dv.unbounded(), dv.unbounded(), stream.window])) for stream in drawn.streams]
    how = draw(st.sampled_from(HOWS)) if len(windows) == 2 else "inner"
    select = "A.ts AS t, A.i AS i, A.s || '!' AS s" if how in ("semi", "anti") else drawn.select
    return replace(drawn.with_windows(*windows), how=how, select=select)


@given(st.data())
def test_without_windows_every_row_counts(data: st.DataObject) -> None:
    drawn = data.draw(unbounded_queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert query.model.order == "none" or ordered(found)
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_without_windows_memory_is_spilled(data: st.DataObject) -> None:
    drawn = data.draw(unbounded_queries())
    script = data.draw(scripts(drawn))
    budget = dv.budget(memory=dv.tuples(data.draw(st.integers(6, 12))), policy="spill")
    query = drawn.build(order=data.draw(st.sampled_from(["none", "hold"])), budget=budget)
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert query.model.order == "none" or ordered(found)
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_tables_give_the_same_at_once_and_up_to_a_limit(data: st.DataObject) -> None:
    """Collected whole, on threads, and the first rows of it."""
    drawn = data.draw(unbounded_queries())
    script = data.draw(scripts(drawn, late=False))
    pushed = {
        s.name: [e.batch[s.name] for e in script if isinstance(e, Push) and s.name in e.batch] for s in drawn.streams
    }
    tables = {
        s.name: pa.concat_tables(pushed[s.name]) if pushed[s.name] else s.schema.empty_table() for s in drawn.streams
    }
    bare = replace(drawn, streams=tuple(replace(s, window=None, data=tables[s.name]) for s in drawn.streams))
    query = bare.build(order=data.draw(st.sampled_from(["none", "hold"])))
    expected = oracle(query.model, [Push(tables)]).rows
    with small_pushes():
        found = query.collect(threads=data.draw(st.sampled_from([1, 2])))
    assert_same_rows(found, expected)
    limit = data.draw(st.integers(1, 6))
    some = query.collect(limit=limit)
    assert some.num_rows == min(limit, expected.num_rows)
    assert_subset(some, expected)
    if query.model.order == "hold":
        assert some["result_time"].to_pylist() == expected["result_time"].slice(0, limit).to_pylist()
