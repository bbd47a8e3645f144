"""Streams that stop, never start, come back with old times, take turns, or run far ahead."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64()})
START = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS = pytest.mark.parametrize("order", ["sync", "hold", "adaptive"])


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def rows(*seconds: float, k: int = 1) -> list[dict[str, Any]]:
    return [{"ts": at(second), "k": k} for second in seconds]


def query(idle: str | None = None, **options: Any) -> dv.Query:
    s, t = (dv.stream(name, time="ts", window="10 seconds", idle=idle, schema=SCHEMA) for name in "ST")
    return dv.join(s, t, on="S.k = T.k", select="S.ts AS s, T.ts AS t", **options)


@ORDERS
def test_a_stream_that_stops_for_an_hour_does_not_stop_the_output(order: str) -> None:
    run = query("30 seconds", order=order).local()
    run.push("S", rows(0))
    run.push("T", rows(5))
    run.tick(at(6))
    seen = 0
    for second in range(10, 3600, 10):
        run.push("T", rows(second, k=2))
        seen += run.tick(at(second)).num_rows
    assert seen == 1
    metrics = run.metrics()
    assert metrics["held"] == 0
    assert metrics["streams"]["S"]["stored"] == 0
    assert metrics["streams"]["T"]["stored"] + metrics["streams"]["T"]["waiting"] <= 6
    late = run.push("S", rows(20, 3595))
    assert late.num_rows == 0
    assert run.metrics()["streams"]["S"]["late"] == 1


@ORDERS
def test_a_stream_that_never_starts_is_carried_along(order: str) -> None:
    run = query("30 seconds", order=order, how="left").local()
    run.tick(at(0))
    out = 0
    for second in range(0, 120, 10):
        out += run.push("S", rows(second)).num_rows
        out += run.tick(at(second)).num_rows
    assert out == 10  # rows of 0 to 90: those of 100 and 110 may still find a partner at 100 or later


def test_without_idle_a_stream_that_never_starts_holds_everything_back() -> None:
    run = query(order="hold", how="left").local()
    for second in range(0, 120, 10):
        assert run.push("S", rows(second)).num_rows == 0
    assert run.metrics()["streams"]["S"]["stored"] == 12
    assert run.close().num_rows == 12


def test_a_stream_that_comes_back_with_old_times_is_late_and_counted() -> None:
    run = query("5 seconds", late="divert", order="hold").local()
    run.push("S", rows(0))
    run.push("T", rows(0))
    run.tick(at(0))
    run.push("T", rows(60))
    run.tick(at(60))
    run.push("S", rows(1, 2, 70))
    assert run.metrics()["streams"]["S"]["late"] == 2
    diverted = run.late.to_pylist()
    assert [row["reason"] for row in diverted] == ["late", "late"]
    assert [row["late_by"] for row in diverted] == [timedelta(seconds=59), timedelta(seconds=58)]
    assert [row["S"]["ts"] for row in diverted] == [at(1), at(2)]


@ORDERS
def test_two_streams_that_take_turns_miss_nothing(order: str) -> None:
    exact, quiet = query(order=order).local(), query("1 hour", order=order).local()
    counts = {"exact": 0, "quiet": 0}
    for turn in range(20):
        name = "ST"[turn % 2]
        batch = rows(*[turn * 5 + step for step in range(5)])
        for key, run in (("exact", exact), ("quiet", quiet)):
            counts[key] += run.push(name, batch).num_rows + run.tick(at(turn * 5)).num_rows
    counts["exact"] += exact.close().num_rows
    counts["quiet"] += quiet.close().num_rows
    assert counts["exact"] == counts["quiet"] == 19 * 25


def test_if_all_are_silent_the_frontier_is_the_largest_watermark() -> None:
    run = query("5 seconds", order="hold").local()
    run.push("S", rows(0))
    run.push("T", rows(8))
    run.tick(at(0))
    assert run.tick(at(5)).num_rows == 0
    assert run.tick(at(6)).num_rows == 1
    assert run.metrics()["frontier"] == int(at(8).timestamp() * 1e6)


def test_a_stream_far_ahead_waits_where_it_can_be_seen() -> None:
    """Waiting at the door keeps input, waiting at the exit keeps output; either is counted, in rows and bytes."""
    ahead = rows(*[step / 10 for step in range(2000)], k=2)
    held = {}
    for order in ("sync", "hold"):
        run = query(order=order).local()
        run.push("S", rows(0.0, k=2))
        run.push("T", ahead)
        held[order] = run.metrics()
    sync, hold = held["sync"], held["hold"]
    assert sync["streams"]["T"]["waiting"] == 1999
    assert sync["waiting_bytes"] > 0
    assert hold["streams"]["T"]["waiting"] == 0
    assert sync["held"] < hold["held"] == 100


def test_sync_holds_less_output_and_hold_less_input() -> None:
    """A join in which a tuple meets many: the paper's section on memory."""
    held, waiting = {}, {}
    for order in ("sync", "hold"):
        run = query(order=order).local()
        most_held = most_waiting = 0
        for second in range(100):
            run.push("T", rows(*[second + step / 10 for step in range(10)]))
            if second % 5 == 0:
                run.push("S", rows(*[second + step for step in range(-4, 1)] if second else [0]))
            metrics = run.metrics()
            most_held = max(most_held, metrics["held"])
            most_waiting = max(most_waiting, sum(own["waiting"] for own in metrics["streams"].values()))
        held[order], waiting[order] = most_held, most_waiting
    assert held["sync"] == 0 < held["hold"]
    assert waiting["hold"] == 0 < waiting["sync"]


def test_memory_is_bounded_while_one_stream_lags() -> None:
    run = query(order="sync").local()
    for second in range(2000):
        run.push("T", rows(second))
        run.push("S", rows(max(second - 5, 0)))
    metrics = run.metrics()["streams"]
    assert metrics["S"]["stored"] <= 12
    assert metrics["T"]["stored"] + metrics["T"]["waiting"] <= 20
