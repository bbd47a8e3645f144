"""The answer does not depend on the order in which the streams of a query are named, however many times are equal."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow
from dovetail.testing import assert_same_rows, oracle, ordered, play
from tests.properties.queries import EQUALITIES, Draw, RandomQuery, edges, queries, row_windows, time_windows
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_orders import ORDERS, resumed

SWAPPED = {"inner": "inner", "left": "right", "right": "left", "full": "full"}


def windows() -> st.SearchStrategy[object]:
    return row_windows() | st.builds(RowWindow, st.integers(1, 3), st.just("key")) | time_windows()


@st.composite
def keyed_queries(draw: Draw, most: int = 4) -> RandomQuery:
    """Equalities that tie all streams together, so that each has a key; windows of all kinds."""
    drawn: RandomQuery = draw(queries(most))
    names = [stream.name for stream in drawn.streams]
    tied = [draw(st.sampled_from(EQUALITIES)).format(a=names[a], b=names[b]) for a, b in edges(draw, len(names))]
    select = ", ".join(f"{name}.ts AS {name}t, {name}.i AS {name}i, {name}.x AS {name}x" for name in names)
    how = draw(st.sampled_from(list(SWAPPED))) if len(names) == 2 else "inner"
    return replace(drawn.with_windows(*(draw(windows()) for _ in names)), on=" AND ".join(tied), select=select, how=how)


def permuted(draw: Draw, drawn: RandomQuery) -> RandomQuery:
    """The same join with its streams named in another order."""
    streams = tuple(draw(st.permutations(drawn.streams)))
    how = SWAPPED[drawn.how] if streams[0] != drawn.streams[0] else drawn.how
    event("in another order" if streams != drawn.streams else "in the same order")
    return replace(drawn, streams=streams, how=how)


@given(st.data())
def test_the_order_of_the_names_does_not_matter(data: st.DataObject) -> None:
    drawn = data.draw(keyed_queries())
    script = data.draw(scripts(drawn, tied=True))
    query, other = drawn.build(), permuted(data.draw, drawn).build()
    expected = oracle(query.model, script).rows
    assert_same_rows(oracle(other.model, script).rows, expected)
    assert_same_rows(play(query.local(), script), expected)
    assert_same_rows(play(other.local(), script), expected)


@given(st.data())
def test_nor_with_an_order_of_the_output_and_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(keyed_queries())
    script = data.draw(scripts(drawn, tied=True))
    other = permuted(data.draw, drawn).build(order=data.draw(st.sampled_from(ORDERS)))
    rows = resumed(other, script, data.draw(st.integers(0, len(script) - 1)))
    assert ordered(rows)
    assert_same_rows(rows, oracle(drawn.build().model, script).rows)


@given(st.data())
def test_nor_with_other_cuts(data: st.DataObject) -> None:
    drawn = data.draw(keyed_queries(most=3))
    script = data.draw(scripts(drawn, late=False, tied=True))
    expected = play(drawn.build().local(), one_by_one(script))
    other = permuted(data.draw, drawn).build()
    assert_same_rows(play(other.local(), data.draw(recut(script))), expected)


def test_an_as_of_join_sees_one_price_whichever_stream_comes_first() -> None:
    """The last price at or before an order, also where both have one time."""
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    prices = dv.stream("P", schema=schema, time="ts", window=dv.rows(1, per="key"))
    orders = dv.stream("O", schema=schema, time="ts", window="0 seconds")
    for streams in ((prices, orders), (orders, prices)):
        run = dv.join(*streams, on="P.k = O.k", select="P.ts AS p, O.ts AS o").local()
        run.push("P", pa.table({"ts": [1, 3, 4], "k": [7, 7, 7]}, schema))
        found = run.push("O", pa.table({"ts": [3], "k": [7]}, schema))
        assert found["p"].cast(pa.int64()).to_pylist() == [3]
