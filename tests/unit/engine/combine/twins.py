"""The kernels once more in plain Python: every tuple is looked at, in the order of its id."""

from typing import Any

import numpy as np

from dovetail.engine import kernels
from dovetail.model.predicate import Band

Pairs = list[tuple[int, int]]


def matching(values: Any, lows: Any, highs: Any, window: Any, times: Any, base: int, tail: int, test: Any) -> Pairs:
    """(parent, id) of every live tuple whose time and value fit."""
    return [
        (parent, base + slot)
        for parent in range(len(lows))
        for slot in range(tail - base, len(times))
        if lows[parent] <= times[slot] <= highs[parent] and test(window[slot], values[parent])
    ]


def last_rows(
    values: Any, newest: Any, highs: Any, window: Any, times: Any, leaves: Any, base: int, tail: int
) -> Pairs:
    """(parent, id) of every live tuple of the parent's key that is newer than the parent, or inside at its time."""
    return [
        (parent, base + slot)
        for parent in range(len(values))
        for slot in range(tail - base, len(times))
        if window[slot] == values[parent]
        and times[slot] <= highs[parent]
        and (times[slot] > newest[parent] or leaves[slot] > newest[parent])
    ]


def in_band(band: Band, left: Any, right: Any) -> bool:
    """The definition, with integers of any size."""
    if isinstance(left, np.int64):
        left, right = int(left), int(right)
    if (band.low, band.high) == (0, None):
        return bool(left > right if band.low_strict else left >= right)
    if (band.low, band.high) == (None, 0):
        return bool(left < right if band.high_strict else left <= right)
    if band.moved:
        above = band.low is None or (left > right + band.low if band.low_strict else left >= right + band.low)
        return bool(
            above
            and (band.high is None or (left < right + band.high if band.high_strict else left <= right + band.high))
        )
    with np.errstate(invalid="ignore", over="ignore"):
        gap = left - right
    above = band.low is None or (gap > band.low if band.low_strict else gap >= band.low)
    return bool(above and (band.high is None or (gap < band.high if band.high_strict else gap <= band.high)))


def pushes_out(codes: Any, times: Any, count: int) -> list[int | None]:
    """For each tuple the time of the one that pushes it out of its key's row window."""
    found: list[int | None] = []
    for at, code in enumerate(codes):
        later = [times[other] for other in range(at + 1, len(codes)) if codes[other] == code]
        found.append(int(later[count - 1]) if len(later) >= count else None)
    return found


def drained(kernel: Any, *arguments: Any, size: int, places: int = 2) -> Pairs:
    """Call a probing kernel again and again with a small output until it is done; its pairs, sorted."""
    parents, found = np.empty(size, np.int64), np.empty(size, np.int64)
    pairs: Pairs = []
    where = (0, -1) if places == 2 else (0, 0, -1)
    for _ in range(100_000):
        n, *where = kernel(*arguments, *where, parents, found)
        assert n <= size
        pairs += zip(parents[:n].tolist(), found[:n].tolist(), strict=True)
        if where[0] >= len(arguments[0]):
            return sorted(pairs)
    raise AssertionError(f"{kernel.__name__} does not come to an end")


def hash_index(codes: Any, base: int) -> tuple[Any, Any, int]:
    """Heads, links and shift of a small index, with only two buckets so that codes collide."""
    heads, nexts = np.full(2, -1, np.int64), np.zeros(len(codes), np.int32)
    kernels.hash_insert(codes, heads, nexts, 63, base, base, base + len(codes))
    return heads, nexts, 63
