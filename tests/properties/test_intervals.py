"""Joins whose conditions on times say all that windows would: nothing is lost, and nothing is kept for longer."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from itertools import combinations, pairwise
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.testing import Push, assert_same_rows, oracle, ordered, play
from tests.properties import rows
from tests.properties.queries import EQUALITIES, Draw, RandomQuery
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS, resumed

LONG = TimeWindow(10_000)
INTERVALS = (
    "{b}.ts BETWEEN {a}.ts + INTERVAL '2' MICROSECOND AND {a}.ts + INTERVAL '5' MICROSECOND",
    "{a}.ts - {b}.ts BETWEEN INTERVAL '-3' MICROSECOND AND INTERVAL '1' MICROSECOND",
    "{b}.ts > {a}.ts AND {b}.ts < {a}.ts + INTERVAL '4' MICROSECOND",
    "{a}.ts = {b}.ts",
)


@st.composite
def interval_queries(draw: Draw, most: int = 4) -> RandomQuery:
    """A chain or star of streams without windows, an interval and perhaps an equality on every edge."""
    names = list("ABCD"[: draw(st.integers(2, most))])
    columns = rows.schema(next(iter(rows.KEYS)))
    streams = tuple(Stream(name, columns, "ts", delay_us=draw(st.sampled_from([0, 2, 6]))) for name in names)
    on = []
    for place, name in enumerate(names[1:], 1):
        other = names[draw(st.integers(0, place - 1))]
        first, second = draw(st.permutations([name, other]))
        on.append(draw(st.sampled_from(INTERVALS)).format(a=first, b=second))
        if draw(st.booleans()):
            on.append(draw(st.sampled_from(EQUALITIES)).format(a=first, b=second))
    return RandomQuery(
        streams, " AND ".join(on), ", ".join(f"{name}.ts AS {name}, {name}.i AS {name}i" for name in names)
    )


@given(st.data())
def test_implied_windows_lose_nothing(data: st.DataObject) -> None:
    drawn = data.draw(interval_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    long = drawn.with_windows(*[LONG] * len(drawn.streams)).build()
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert query.model.order == "none" or ordered(found)
    assert_same_rows(found, oracle(long.model, script).rows)


@given(st.data())
def test_rows_without_a_partner_come_out_when_their_interval_is_over(data: st.DataObject) -> None:
    drawn = data.draw(interval_queries(most=2))
    drawn = replace(drawn, how=data.draw(st.sampled_from(["left", "right", "full"])))
    script = data.draw(scripts(drawn))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


BOUNDS = st.tuples(st.integers(-6, 6), st.integers(-6, 6))


@given(st.data())
def test_rows_of_many_that_lack_something_are_those_of_long_windows(data: st.DataObject) -> None:
    """Windows that conditions imply cut off no partner; they only say how soon it is certain that there is none."""
    drawn = data.draw(interval_queries().filter(lambda each: len(each.streams) > 2))
    words = {
        stream.name: data.draw(st.sampled_from(["left", "full", "right", "inner"])) for stream in drawn.streams[1:]
    }
    script = data.draw(scripts(drawn))
    query, long = (
        dv.join(*each.streams, on=each.on, select=each.select, how=words)
        for each in (drawn, drawn.with_windows(*[LONG] * len(drawn.streams)))
    )
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert_same_rows(found, oracle(query.model, script).rows)
    expected = oracle(long.model, script).rows
    assert Counter(_without_time(found)) == Counter(_without_time(expected))


def _without_time(rows: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows.drop(["result_time"]).to_pylist()]


@given(st.data())
def test_any_interval_of_two_or_three_streams_is_that_of_duckdb(data: st.DataObject) -> None:
    """Bounds with zero inside or not, between every pair or some, one way, within one period; by text and by calls.

    Those that no times meet are refused.
    """
    names = list("ABC"[: data.draw(st.integers(2, 3))])
    pairs = data.draw(st.sampled_from([[("A", "B"), ("B", "C")], [("A", "B"), ("A", "C")], [*combinations("ABC", 2)]]))
    on = []
    for one, other in [pair for pair in pairs if set(pair) <= set(names)]:
        low, high = data.draw(BOUNDS)
        ends = (f"{one}.ts + INTERVAL '{end}' MICROSECOND" for end in (low, high))
        on.append(f"{other}.ts BETWEEN {' AND '.join(ends)}")
        on += [f"{one}.i = {other}.i"] * data.draw(st.booleans())
        on += [f"DATE_TRUNC('millisecond', {one}.ts) = DATE_TRUNC('millisecond', {other}.ts)"] * data.draw(
            st.booleans()
        )
    columns = rows.schema(next(iter(rows.KEYS)))
    streams = tuple(Stream(name, columns, "ts", delay_us=data.draw(st.sampled_from([0, 3, 6]))) for name in names)
    select = ", ".join(f"{name}.ts AS {name.lower()}, {name}.i AS {name.lower()}i" for name in names)
    drawn = RandomQuery(streams, " AND ".join(on), select)
    script = data.draw(scripts(drawn, late=False))
    pushed = {name: [e.batch[name] for e in script if isinstance(e, Push) and name in e.batch] for name in names}
    tables = {name: pa.concat_tables(parts) if parts else columns.empty_table() for name, parts in pushed.items()}
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table.select(["ts", "i"]))
        newest = f"greatest({', '.join(f'{name}.ts' for name in names)}) AS result_time"
        of = f"FROM {', '.join(names)} WHERE {drawn.on}"
        expected = connection.sql(f"SELECT {newest}, {select} {of}").to_arrow_table()
    try:
        query = dv.sql(f"SELECT {select} {of}", *streams) if data.draw(st.booleans()) else drawn.build()
    except dv.QueryError:
        assert expected.num_rows == 0
        return
    assert all(isinstance(stream.window, TimeWindow) and not stream.window.unbounded for stream in query.model.streams)
    assert_same_rows(play(query.local(), script), expected.cast(query.schema))


@given(st.data())
def test_rows_of_one_period_meet_without_a_window(data: st.DataObject) -> None:
    """A window with a fixed start: what came since the beginning of the second, in which the newest row lies."""
    drawn = data.draw(interval_queries(most=3))
    unit = data.draw(st.sampled_from(["millisecond", "second"]))
    names = [stream.name for stream in drawn.streams]
    same = [f"DATE_TRUNC('{unit}', {one}.ts) = DATE_TRUNC('{unit}', {other}.ts)" for one, other in pairwise(names)]
    drawn = replace(drawn, on=" AND ".join([*same, f"{names[0]}.ts <= {names[1]}.ts"]))
    script = data.draw(scripts(drawn))
    query = drawn.build()
    long = drawn.with_windows(*[LONG] * len(names)).build()
    assert_same_rows(play(query.local(), script), oracle(long.model, script).rows)


@given(st.data())
def test_rows_since_a_moment_meet_without_a_window(data: st.DataObject) -> None:
    """A window that begins at a moment and never ends, for one stream or for all: the oracle's rows, and DuckDB's."""
    drawn = data.draw(interval_queries(most=3))
    names = [stream.name for stream in drawn.streams]
    script = data.draw(scripts(drawn, late=False))
    pushed = {name: [e.batch[name] for e in script if isinstance(e, Push) and name in e.batch] for name in names}
    columns = drawn.streams[0].schema
    tables = {name: pa.concat_tables(parts) if parts else columns.empty_table() for name, parts in pushed.items()}
    times = sorted(time for table in tables.values() for time in table["ts"].to_pylist())
    moment = data.draw(st.sampled_from(times)) if times else datetime(2026, 7, 1)
    since = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    keys = [f"{one}.i = {other}.i" for one, other in pairwise(names)]
    on = " AND ".join([*keys, *(f"{name}.ts >= TIMESTAMP '{moment.isoformat(' ')}'" for name in since)])
    drawn = replace(drawn, on=on).with_windows(*[dv.unbounded()] * len(names))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert_same_rows(found, oracle(query.model, script).rows)
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table.select(["ts", "i"]))
        newest = f"greatest({', '.join(f'{name}.ts' for name in names)}) AS result_time"
        expected = connection.sql(
            f"SELECT {newest}, {drawn.select} FROM {', '.join(names)} WHERE {on}"
        ).to_arrow_table()
    assert_same_rows(found, expected.cast(query.schema))
