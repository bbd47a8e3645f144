"""Rows that are dropped because a delay was forgotten: one warning for each stream, with the delay that keeps them."""

import warnings
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
SECOND = 1_000_000


def query(delay: str = "0 seconds", **options: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="1 minute", delay=delay, schema=SCHEMA) for name in "AB"]
    return dv.join(*streams, on="A.k = B.k", select="A.k", **options)


def push(run: Any, *seconds: float, stream: str = "A") -> list[str]:
    """The warnings that rows at these times cause, one push each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for second in seconds:
            run.push(stream, [{"ts": round(second * SECOND), "k": 1}])
    assert all(each.category is dv.LateRowsWarning for each in caught)
    return [str(each.message) for each in caught]


def test_a_forgotten_delay_is_told_once_for_each_stream() -> None:
    run = query().local()
    assert push(run, 100) == []
    (said,) = push(run, 38.7)
    assert said.startswith("stream 'A': 1 of 2 rows so far were late and are dropped; it has no delay. ")
    assert "stream('A', ..., delay='2 minutes') would have kept them" in said
    assert push(run, 37, 36) == []
    assert len(push(run, 100, 99, stream="B")) == 1
    assert run.metrics()["streams"]["A"]["lateness_us"] == 64 * SECOND


def test_the_delay_that_is_named_keeps_the_rows() -> None:
    times = (100, 38.7, 37, 120, 90)
    short = query().local()
    push(short, *times)
    needed = short.metrics()["streams"]["A"]["lateness_us"]
    kept = query(f"{needed} us").local()
    assert push(kept, *times) == []
    assert kept.metrics()["streams"]["A"]["late"] == 0
    barely = query(f"{needed - 1} us").local()
    push(barely, *times)
    assert barely.metrics()["streams"]["A"]["late"] == 1


def test_a_few_late_rows_are_expected_where_a_delay_was_chosen() -> None:
    run = query("1 second").local()
    assert push(run, *range(150), 100) == []
    (said,) = push(run, 100)
    assert "2 of 152 rows so far were late and are dropped; its delay is 1 second" in said
    assert push(run, 100) == []


@pytest.mark.parametrize("late", ["keep", "divert"])
def test_late_rows_that_are_asked_for_are_not_told(late: str) -> None:
    assert push(query(late=late).local(), 100, 1) == []


def test_a_promise_that_was_not_kept_is_no_matter_of_delays() -> None:
    run = query().local()
    run.advance("A", 100 * SECOND)
    assert push(run, 1) == []
    assert run.metrics()["streams"]["A"]["late"] == 1
    assert run.metrics()["streams"]["A"]["lateness_us"] == 0


def test_a_run_that_is_resumed_knows_how_late_rows_were() -> None:
    join = query()
    run = join.local()
    push(run, 100, 90)
    again = join.local(snapshot=run.snapshot())
    assert again.metrics()["streams"]["A"]["lateness_us"] == 10 * SECOND
    push(again, 80)
    assert again.metrics()["streams"]["A"]["lateness_us"] == 20 * SECOND


@pytest.mark.parametrize("kind", ["shared", "tree"])
def test_other_kinds_of_run_tell_too(kind: str) -> None:
    a, b, c = (dv.stream(name, time="ts", window="1 minute", schema=SCHEMA) for name in "ABC")
    pair = dv.join(a, b, on="A.k = B.k", select="A.k").named("pair")
    three = dv.join(a, b, c, on="A.k = B.k AND B.k = C.k", select="A.k", plan=(("A", "B"), "C"))
    run = dv.share(pair).local() if kind == "shared" else three.local()
    assert len(push(run, 100, 1, 2)) == 1


def test_the_warning_points_at_the_push() -> None:
    run = query().local()
    run.push("A", [{"ts": 100 * SECOND, "k": 1}])
    with pytest.warns(dv.LateRowsWarning) as caught:
        run.push("A", [{"ts": 1 * SECOND, "k": 1}])
    assert caught[0].filename == __file__
