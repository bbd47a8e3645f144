"""Hash chains over the cells of a number line, for bands with two ends."""

import numpy as np

from dovetail.engine.kernels.bands import EXACT, in_band
from dovetail.engine.kernels.chains import AHEAD, bucket_of, link
from dovetail.engine.kernels.signature import F8, I8
from dovetail.kernel import interpretable, part

LARGEST = np.finfo(np.float64).max  # an end of a band that overflows is as near as that
FARTHEST = 2.0**50  # cells; beyond, rounding of the values would be wider than a cell
CELLS = 16  # a band reaches three, and with what rounding may add at most a dozen


@part(inline="always")
def cell_of(value, per_unit):
    """Which cell a value lies in: larger values never in a smaller cell; the two at the ends are without limit."""
    finite = min(max(np.float64(value), -LARGEST), LARGEST)
    return np.int64(np.floor(min(max(finite * per_unit, -FARTHEST), FARTHEST)))


def _cell_insert_signature(values):
    return f"void({values}, float64, {I8}, int32[::1], int64, int64, int64, int64)"


@interpretable(int64=_cell_insert_signature(I8), float64=_cell_insert_signature(F8))
def cell_insert(values, per_unit, heads, nexts, shift, base, first, last):
    """As ``hash_insert``, by the cells of the values."""
    for tuple_id in range(first, last):
        slot = tuple_id - base
        link(heads, nexts, bucket_of(cell_of(values[slot], per_unit), shift), slot, tuple_id)


@part
def chain_starts(firsts, lasts, per_unit, heads, shift, starts, ends):
    """The newest tuple in each cell between a first and a last value, for as many pairs as there is room for.

    Pair i has ``starts[ends[i]:ends[i + 1]]``. A bucket that two cells of a pair share is given once, then -1.
    """
    n = 0
    for i in range(min(len(firsts), len(ends) - 1)):
        first, last = cell_of(firsts[i], per_unit), cell_of(lasts[i], per_unit)
        if n + last - first + 1 > len(starts):
            return i
        for cell in range(first, last + 1):
            bucket = bucket_of(cell, shift)
            again = False
            for earlier in range(first, cell):
                again |= bucket_of(earlier, shift) == bucket
            starts[n] = -1 if again else heads[bucket]
            n += 1
        ends[i + 1] = n
    return min(len(firsts), len(ends) - 1)


def _cell_probe_signature(number, values):
    return (
        f"UniTuple(int64, 4)({values}, {values}, {values}, {I8}, int64, {I8}, {number}, {number}, int64, {values}, "
        f"{I8}, int32[::1], {I8}, int64, float64, int64, int64, int64, int64, int64, int64, {I8}, {I8})"
    )


@interpretable(int64=_cell_probe_signature("int64", I8), float64=_cell_probe_signature("float64", F8))
def cell_probe(
    values, firsts, lasts, newest, width, highs, low, high, flags, window_values, times, nexts, heads, shift, per_unit,
    base, tail, slack, p, place, resume, parents, found,
):  # fmt: skip
    """Walk the chains of the cells that a band reaches; each candidate is checked exactly."""
    n, limit = 0, len(found)
    starts, ends = np.empty(AHEAD * CELLS, np.int64), np.zeros(AHEAD + 1, np.int64)
    while p < len(values):
        ahead = chain_starts(firsts[p:], lasts[p:], per_unit, heads, shift, starts, ends)
        for i in range(ahead):
            value, since, until = values[p + i], newest[p + i] - width, highs[p + i]
            first, last = firsts[p + i], lasts[p + i]
            for at in range(ends[i] + place, ends[i + 1]):
                tuple_id = starts[at] if resume < 0 else resume
                resume = np.int64(-1)
                while tuple_id >= tail:
                    slot = tuple_id - base
                    time, there = times[slot], window_values[slot]
                    if time + slack < since:
                        break
                    inside = first <= there <= last and since <= time <= until
                    if inside and (flags & EXACT or in_band(there, value, low, high, flags)):
                        if n == limit:
                            return n, p + i, at - ends[i], tuple_id
                        parents[n] = p + i
                        found[n] = tuple_id
                        n += 1
                    gap = nexts[slot]
                    if gap == 0:
                        break
                    tuple_id -= gap
            place = np.int64(0)
        p += ahead
    return n, p, np.int64(0), np.int64(-1)
