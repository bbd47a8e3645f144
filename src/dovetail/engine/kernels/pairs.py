"""Sorted runs of (code, value) pairs: searched by a code and a range of values at once, merged two by two."""

import numpy as np

from dovetail.engine.kernels.bands import EXACT, in_band
from dovetail.engine.kernels.signature import F8, I8
from dovetail.kernel import interpretable


def _probe_signature(number, values):
    return (
        f"UniTuple(int64, 4)({I8}, {values}, {values}, {values}, {I8}, {I8}, {number}, {number}, int64, {I8}, "
        f"{values}, {I8}, {I8}, {I8}, int64, int64, int64, int64, int64, {I8}, {I8})"
    )


@interpretable(argument=1, int64=_probe_signature("int64", I8), float64=_probe_signature("float64", F8))
def pair_probe(
    codes, values, firsts, lasts, lows, highs, low, high, flags, ranked_codes, ranked, ids, runs, times, base, tail,
    p, run, at, parents, found,
):  # fmt: skip
    """As ``sorted_probe``, among the tuples of one code."""
    n, limit = 0, len(found)
    while p < len(values):
        code, value, since, until = codes[p], values[p], lows[p], highs[p]
        first, last = firsts[p], lasts[p]
        while run < len(runs) - 1:
            stop = runs[run + 1]
            if at < 0:
                at, end = runs[run], stop
                while at < end:
                    middle = (at + end) // 2
                    if ranked_codes[middle] < code or (ranked_codes[middle] == code and ranked[middle] < first):
                        at = middle + 1
                    else:
                        end = middle
            while at < stop and ranked_codes[at] == code and ranked[at] <= last:
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
    return f"void({I8}, {values}, {I8}, int64, int64, int64, {I8}, {values}, {I8})"


@interpretable(argument=1, int64=_merge_signature(I8), float64=_merge_signature(F8))
def merge_pairs(codes, ranked, ids, first, middle, last, codes_out, ranked_out, ids_out):
    """As ``merge_runs``, by code and then by value."""
    left, right = first, middle
    for at in range(last - first):
        from_left = right >= last or (
            left < middle
            and (codes[left] < codes[right] or (codes[left] == codes[right] and ranked[left] <= ranked[right]))
        )
        source = left if from_left else right
        codes_out[at], ranked_out[at], ids_out[at] = codes[source], ranked[source], ids[source]
        if from_left:
            left += 1
        else:
            right += 1
