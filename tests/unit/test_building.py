"""The work of building a query grows with the length of its text, not with the square of it."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv

MOST = 400
SCHEMA = pa.schema([("ts", pa.timestamp("us")), *((f"k{at}", pa.int64()) for at in range(MOST))])


def equalities(count: int) -> str:
    return " AND ".join(f"A.k{at} = B.k{at}" for at in range(count))


def bands(count: int) -> str:
    return " AND ".join(f"A.k{at} <= B.k{at}" for at in range(count))


def constants(count: int) -> str:
    return f"A.k0 = B.k0 AND A.k1 IN ({', '.join(map(str, range(count)))})"


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions are called, Python's own and those written in C."""
    counted = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("condition", [equalities, bands, constants])
def test_twice_the_condition_is_twice_the_work(condition: Callable[[int], str]) -> None:
    a, b = (dv.stream(name, time="ts", window="1 minute", schema=SCHEMA) for name in "AB")
    dv.join(a, b, on=condition(10), select="A.k0")
    half, whole = (calls_of(partial(dv.join, a, b, on=condition(count), select="A.k0")) for count in (MOST // 2, MOST))
    assert whole < 2.5 * half


def test_a_condition_that_almost_never_holds_can_be_explained() -> None:
    a, b = (dv.stream(name, time="ts", window="1 minute", schema=SCHEMA) for name in "AB")
    assert "A.k1 = B.k1" in dv.join(a, b, on=equalities(40), select="A.k0").explain(rates=1000, keys=1e9)
