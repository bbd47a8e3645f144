"""Hash chains over the cells of a number line, for bands with two ends."""

import numpy as np
from numba import njit

from dovetail.engine.combine.kernels.bands import EXACT, in_band
from dovetail.engine.combine.kernels.chains import bucket_of
from dovetail.engine.combine.kernels.signature import F8, I8

LARGEST = np.finfo(np.float64).max  # an end of a band that overflows is as near as that
FARTHEST = 2.0**50  # cells; beyond, rounding of the values would be wider than a cell


@njit(["int64(int64, float64)", "int64(float64, float64)"], cache=True, nogil=True, inline="always")
def cell_of(value, per_unit):
    """Which cell a value lies in: larger values never in a smaller cell; the two at the ends are without limit."""
    finite = min(max(np.float64(value), -LARGEST), LARGEST)
    return np.int64(np.floor(min(max(finite * per_unit, -FARTHEST), FARTHEST)))


def _cell_insert_signature(values):
    return f"void({values}, float64, {I8}, int32[::1], int64, int64, int64, int64)"


@njit([_cell_insert_signature(I8), _cell_insert_signature(F8)], cache=True, nogil=True)
def cell_insert(values, per_unit, heads, nexts, shift, base, first, last):
    """As ``hash_insert``, by the cells of the values."""
    for tuple_id in range(first, last):
        slot = tuple_id - base
        bucket = bucket_of(cell_of(values[slot], per_unit), shift)
        gap = tuple_id - heads[bucket]
        nexts[slot] = gap if 0 < gap < 2147483647 else 0
        heads[bucket] = tuple_id


def _cell_probe_signature(number, values):
    return (
        f"UniTuple(int64, 4)({values}, {values}, {values}, {I8}, int64, {I8}, {number}, {number}, int64, {values}, "
        f"{I8}, int32[::1], {I8}, int64, float64, int64, int64, int64, int64, int64, int64, {I8}, {I8})"
    )


@njit([_cell_probe_signature("int64", I8), _cell_probe_signature("float64", F8)], cache=True, nogil=True)
def cell_probe(
    values, firsts, lasts, newest, width, highs, low, high, flags, window_values, times, nexts, heads, shift, per_unit,
    base, tail, slack, p, cell, resume, parents, found,
):  # fmt: skip
    """Walk the chains of the cells that a band reaches; each candidate is checked exactly."""
    n, limit = 0, len(found)
    while p < len(values):
        value, since, until = values[p], newest[p] - width, highs[p]
        first, last = firsts[p], lasts[p]
        if resume < 0:
            cell = cell_of(first, per_unit)
        last_cell = cell_of(last, per_unit)
        while cell <= last_cell:
            tuple_id = heads[bucket_of(cell, shift)] if resume < 0 else resume
            resume = np.int64(-1)
            while tuple_id >= tail:
                slot = tuple_id - base
                time, there = times[slot], window_values[slot]
                if time + slack < since:
                    break
                inside = first <= there <= last and since <= time <= until and cell_of(there, per_unit) == cell
                if inside and (flags & EXACT or in_band(there, value, low, high, flags)):
                    if n == limit:
                        return n, p, cell, tuple_id
                    parents[n] = p
                    found[n] = tuple_id
                    n += 1
                gap = nexts[slot]
                if gap == 0:
                    break
                tuple_id -= gap
            cell += 1
        p += 1
    return n, p, np.int64(0), np.int64(-1)
