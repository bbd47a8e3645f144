"""Sorted runs: searched by value, merged two by two."""

import numpy as np

from dovetail.engine.kernels.bands import EXACT, in_band
from dovetail.engine.kernels.signature import F8, I8
from dovetail.kernel import interpretable


def _sorted_signature(number, values):
    return (
        f"UniTuple(int64, 4)({values}, {values}, {values}, {I8}, {I8}, {number}, {number}, int64, {values}, {I8}, "
        f"{I8}, {I8}, int64, int64, int64, int64, int64, {I8}, {I8})"
    )


@interpretable(int64=_sorted_signature("int64", I8), float64=_sorted_signature("float64", F8))
def sorted_probe(
    values, firsts, lasts, lows, highs, low, high, flags, ranked, ids, runs, times, base, tail,
    p, run, at, parents, found,
):  # fmt: skip
    """In each sorted run: the first candidate by binary search, then on to the last; each is checked exactly."""
    n, limit = 0, len(found)
    while p < len(values):
        value, since, until = values[p], lows[p], highs[p]
        first, last = firsts[p], lasts[p]
        while run < len(runs) - 1:
            stop = runs[run + 1]
            if at < 0:
                at, end = runs[run], stop
                while at < end:
                    middle = (at + end) // 2
                    if ranked[middle] < first:
                        at = middle + 1
                    else:
                        end = middle
            while at < stop and ranked[at] <= last:
                if ids[at] >= tail:
                    time = times[ids[at] - base]
                    if since <= time <= until and (flags & EXACT or in_band(ranked[at], value, low, high, flags)):
                        if n == limit:
                            return n, p, run, at
                        parents[n] = p
                        found[n] = ids[at]
                        n += 1
                at += 1
            at = -1
            run += 1
        run = 0
        p += 1
    return n, p, np.int64(0), np.int64(-1)


def _merge_signature(values):
    return f"void({values}, {I8}, int64, int64, int64, {values}, {I8})"


@interpretable(int64=_merge_signature(I8), float64=_merge_signature(F8))
def merge_runs(ranked, ids, first, middle, last, ranked_out, ids_out):
    """Merge two adjacent sorted runs; equal values stay in order of arrival."""
    left, right = first, middle
    for at in range(last - first):
        if right >= last or (left < middle and ranked[left] <= ranked[right]):
            ranked_out[at], ids_out[at] = ranked[left], ids[left]
            left += 1
        else:
            ranked_out[at], ids_out[at] = ranked[right], ids[right]
            right += 1
