"""Windows from conditions on times: how long they are, where they come from, and what is refused."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})
LATER = "B.ts BETWEEN A.ts + INTERVAL '5' MINUTE AND A.ts + INTERVAL '10' MINUTE"


def streams(names: str, **windows: Any) -> list[Any]:
    return [dv.stream(name, time="ts", schema=SCHEMA, window=windows.get(name)) for name in names]


@pytest.mark.parametrize(
    ("names", "on", "given", "windows"),
    [
        ("AB", LATER, {}, ["10 minutes", "0 seconds"]),
        ("AB", "A.ts = B.ts", {}, ["0 seconds", "0 seconds"]),
        ("AB", "A.ts - B.ts BETWEEN INTERVAL '-1' HOUR AND INTERVAL '2' HOUR", {}, ["1 hour", "2 hours"]),
        ("AB", "B.ts >= A.ts AND B.ts < A.ts + INTERVAL '1' MICROSECOND", {}, ["0 seconds", "0 seconds"]),
        ("AB", "B.ts >= A.ts AND A.k = B.k", {"A": "3 minutes"}, ["3 minutes", "0 seconds"]),
        ("ABC", f"{LATER} AND C.ts BETWEEN B.ts AND B.ts + INTERVAL '1' MINUTE", {},
         ["11 minutes", "1 minute", "0 seconds"]),
    ],
)  # fmt: skip
def test_windows_are_the_smallest_that_lose_nothing(names: str, on: str, given: Any, windows: list[str]) -> None:
    query = dv.join(*streams(names, **given), on=on)
    assert [str(stream.window) for stream in query.model.streams] == windows


def test_a_text_needs_no_window_clause() -> None:
    query = dv.sql(f"SELECT A.k FROM A LEFT JOIN B ON A.k = B.k AND {LATER}", *streams("AB"))
    assert [str(stream.window) for stream in query.model.streams] == ["10 minutes", "0 seconds"]


def test_an_interval_that_is_empty_is_refused() -> None:
    on = "B.ts BETWEEN A.ts + INTERVAL '10' MINUTE AND A.ts + INTERVAL '5' MINUTE"
    with pytest.raises(dv.QueryError, match=r"an interval is empty\. Are its ends in the wrong order"):
        dv.join(*streams("AB"), on=on)
    round_trip = "B.ts > A.ts AND C.ts > B.ts AND A.ts >= C.ts"
    with pytest.raises(dv.QueryError, match="no times meet the conditions on the time of 'A' and the others"):
        dv.join(*streams("ABC"), on=round_trip, window="1 hour")


def test_bounds_that_do_not_say_it_all_leave_a_stream_without_a_window() -> None:
    with pytest.raises(dv.QueryError, match="stream 'A' has no window; give it one"):
        dv.join(*streams("AB"), on="A.k = B.k AND B.ts >= A.ts")


def test_state_is_kept_for_the_interval_and_no_longer() -> None:
    run = dv.join(*streams("AB"), on=f"A.k = B.k AND {LATER}", select="A.v AS a, B.v AS b").local()
    minute = 60_000_000
    for at in range(60):
        for name in "AB":
            run.push(name, pa.table([pa.array([at * minute]).cast(pa.timestamp("us")), [1], [at]], schema=SCHEMA))
    stored = {name: each["stored"] for name, each in run.metrics()["streams"].items()}
    assert stored["A"] <= 12
    assert stored["B"] <= 2


def test_duckdb_gives_the_same() -> None:
    random, tables = np.random.default_rng(3), {}
    for name in "AB":
        times = np.sort(random.integers(0, 3_600, 400)) * 1_000_000
        tables[name] = pa.table(
            [pa.array(times).cast(pa.timestamp("us")), random.integers(0, 5, 400), np.arange(400)], schema=SCHEMA
        )
    inputs = [dv.stream(name, rows, time="ts") for name, rows in tables.items()]
    query = dv.join(*inputs, on=f"A.k = B.k AND {LATER}", select="A.v AS a, B.v AS b")
    found = query.collect().select(["a", "b"]).to_pylist()
    a_rows, b_rows = tables["A"], tables["B"]  # noqa: F841  # found by their names
    relation = duckdb.sql(f"SELECT A.v AS a, B.v AS b FROM a_rows A JOIN b_rows B ON A.k = B.k AND {LATER}")
    assert relation is not None
    expected = relation.to_arrow_table().to_pylist()
    assert len(expected) > 100
    assert sorted(map(str, found)) == sorted(map(str, expected))
