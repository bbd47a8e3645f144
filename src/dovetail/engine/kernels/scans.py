"""Dense loops over the tuples in a range of times."""

import numpy as np

from dovetail.engine.kernels.bands import EXACT, in_band
from dovetail.engine.kernels.signature import F8, I8, WHERE
from dovetail.kernel import interpretable

STRETCH = 256  # tuples that are compared without a branch, then looked at again if one matched


@interpretable(f"int64({I8}, int64, int64, int64)")
def first_at_least(values, start, stop, value):
    """The first position in sorted ``values[start:stop]`` that is not below ``value``."""
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


@interpretable(
    f"{WHERE}({I8}, {I8}, {I8}, {I8}, {I8}, {I8}, int64, int64, int64, int64, int64, int64, {I8}, {I8})",
)
def scan_equal(codes, lows, highs, window_codes, times, clock, base, tail, end, slack, p, resume, parents, found):
    """Compare each code with every tuple in its time range: a dense count per stretch, then the few that match."""
    n, limit = 0, len(found)
    while p < len(codes):
        code, low, high = codes[p], lows[p], highs[p]
        slot = first_at_least(clock, tail - base, end - base, low) if resume < 0 else resume
        stop = first_at_least(clock, slot, end - base, high + slack + 1)
        resume = -1
        while slot < stop:
            piece = min(stop, slot + min(STRETCH, limit))
            matches = 0
            for at in range(slot, piece):
                matches += window_codes[at] == code
            if matches > limit - n:
                return n, p, slot
            if matches:
                for at in range(slot, piece):
                    if window_codes[at] == code and low <= times[at] <= high:
                        parents[n] = p
                        found[n] = at + base
                        n += 1
            slot = piece
        p += 1
    return n, p, np.int64(-1)


@interpretable(
    f"{WHERE}({I8}, {I8}, {I8}, {I8}, int64, int64, int64, int64, int64, int64, {I8}, {I8})",
)
def scan_all(lows, highs, times, clock, base, tail, end, slack, p, resume, parents, found):
    """Every tuple in the time range is a candidate."""
    n, limit = 0, len(found)
    while p < len(lows):
        low, high = lows[p], highs[p]
        slot = first_at_least(clock, tail - base, end - base, low) if resume < 0 else resume
        stop = first_at_least(clock, slot, end - base, high + slack + 1)
        resume = -1
        while slot < stop:
            piece = min(stop, slot + limit - n)
            if piece == slot:
                return n, p, slot
            for at in range(slot, piece):
                if low <= times[at] <= high:
                    parents[n] = p
                    found[n] = at + base
                    n += 1
            slot = piece
        p += 1
    return n, p, np.int64(-1)


def _band_signature(number, values):
    return (
        f"{WHERE}({values}, {values}, {values}, {I8}, {I8}, {number}, {number}, int64, {values}, {I8}, {I8}, "
        f"int64, int64, int64, int64, int64, int64, {I8}, {I8})"
    )


@interpretable(int64=_band_signature("int64", I8), float64=_band_signature("float64", F8))
def scan_band(
    values, firsts, lasts, lows, highs, low, high, flags, window_values, times, clock, base, tail, end, slack,
    p, resume, parents, found,
):  # fmt: skip
    """Compare each value with every tuple in its time range: a dense count per stretch, then the few that match."""
    n, limit = 0, len(found)
    while p < len(values):
        value, since, until = values[p], lows[p], highs[p]
        first, last = firsts[p], lasts[p]
        slot = first_at_least(clock, tail - base, end - base, since) if resume < 0 else resume
        stop = first_at_least(clock, slot, end - base, until + slack + 1)
        resume = -1
        while slot < stop:
            piece = min(stop, slot + min(STRETCH, limit))
            matches = 0
            for at in range(slot, piece):
                matches += (window_values[at] >= first) & (window_values[at] <= last)
            if matches > limit - n:
                return n, p, slot
            if matches:
                for at in range(slot, piece):
                    inside = first <= window_values[at] <= last and since <= times[at] <= until
                    if inside and (flags & EXACT or in_band(window_values[at], value, low, high, flags)):
                        parents[n] = p
                        found[n] = at + base
                        n += 1
            slot = piece
        p += 1
    return n, p, np.int64(-1)
