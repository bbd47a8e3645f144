"""Streams in order each, shifted against each other by lags that may drift, and with disorder inside the delay."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Feed, Script, assert_same_rows, interleave, oracle, ordered, play, random_stream
from tests.properties.test_orders import resumed

HOWS = ["inner", "left", "right", "full", "semi", "anti"]
CONDITIONS = ["A.key = B.key", "ABS(A.value - B.value) <= 0.1", "A.key = B.key OR A.value > B.value + 0.8"]


@st.composite
def scripts(draw: Any) -> tuple[list[Feed], Script]:
    """Two streams of about twenty rows, each with its own lag, drift and disorder."""
    feeds = [
        Feed(
            rate=draw(st.sampled_from([2.0, 5.0, 10.0])),
            keys=draw(st.integers(2, 6)),
            lag=draw(st.sampled_from([0.0, 0.5, 3.0])),
            drift=draw(st.sampled_from([0.0, 0.3])),
            disorder=draw(st.sampled_from([0.0, 0.4])),
            ties=draw(st.sampled_from([0.0, 0.2])),
            null_keys=draw(st.sampled_from([0.0, 0.1])),
        )
        for _ in "AB"
    ]
    seed = draw(st.integers(0, 10_000))
    traces = {
        name: random_stream(feed, 4.0, seed + at) for at, (name, feed) in enumerate(zip("AB", feeds, strict=True))
    }
    return feeds, interleave(traces, every=draw(st.sampled_from([0.0, 0.7])))


def streams(feeds: list[Feed]) -> list[Any]:
    schema = random_stream(Feed(rate=1.0), 1.0, 0).rows.schema
    delays = [f"{int(feed.disorder * 1000)} milliseconds" for feed in feeds]
    time = next(field.name for field in schema if pa.types.is_timestamp(field.type))
    return [dv.stream(name, time=time, delay=delay, schema=schema) for name, delay in zip("AB", delays, strict=True)]


@given(scripts(), st.sampled_from(["sync", "hold", "adaptive"]), st.sampled_from(HOWS), st.sampled_from(CONDITIONS))
def test_rows_and_order_on_asynchronous_streams(drawn: Any, order: str, how: str, on: str) -> None:
    feeds, script = drawn
    query = dv.join(*streams(feeds), on=on, window="800 milliseconds", order=order, how=how)
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(scripts(), st.sampled_from(["sync", "hold", "adaptive"]), st.sampled_from(HOWS), st.floats(0, 1))
def test_a_pause_in_the_middle_of_held_output(drawn: Any, order: str, how: str, share: float) -> None:
    feeds, script = drawn
    query = dv.join(*streams(feeds), on=CONDITIONS[0], window="800 milliseconds", order=order, how=how)
    rows = resumed(query, script, int(share * (len(script) - 1)))
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)
