"""Event times: of blocks, of windows, of partial results."""

import numpy as np
from numba import njit

from dovetail.engine.combine.kernels.signature import I8, READ


@njit(f"void({I8}, {I8}, {I8}, {I8}, {I8}, int64, int64, {I8}, {I8})", cache=True, nogil=True)
def extend(parents, found, newest, expiry, times, base, width, newest_out, expiry_out):
    """Newest and expiry of each parent together with the tuple found for it."""
    for at in range(len(parents)):
        time = times[found[at] - base]
        newest_out[at] = max(newest[parents[at]], time)
        expiry_out[at] = min(expiry[parents[at]], time + width)


@njit(f"UniTuple(int64, 3)({READ})", cache=True, nogil=True)
def inspect_times(times):
    """Smallest, largest, and how far the worst tuple lies behind an earlier one."""
    smallest = largest = times[0]
    behind = np.int64(0)
    for time in times:
        smallest = min(smallest, time)
        behind = max(behind, largest - time)
        largest = max(largest, time)
    return smallest, largest, behind


@njit(f"void({I8}, int64, int64, {I8}, int64)", cache=True, nogil=True)
def running_largest(times, start, stop, clock, so_far):
    """``clock[i]`` = the largest time up to and including arrival i."""
    for at in range(start, stop):
        so_far = max(so_far, times[at])
        clock[at] = so_far


_FEW = 1 << 13


@njit(f"{I8}({READ}, int64, int64)", cache=True, nogil=True)
def time_order(times, smallest, largest):
    """The places of the times from smallest to largest, ties as they are: a radix sort, as times lie close together."""
    order, other = np.arange(len(times)), np.empty(len(times), np.int64)
    width = 8 if len(times) < _FEW else 12
    counts = np.empty(1 << width, np.int64)
    shift, mask = 0, (1 << width) - 1
    while shift < 63 and (largest - smallest) >> shift:
        counts[:] = 0
        for time in times:
            counts[((time - smallest) >> shift) & mask] += 1
        start = 0
        for digit in range(len(counts)):
            start, counts[digit] = start + counts[digit], start
        for place in order:
            digit = ((times[place] - smallest) >> shift) & mask
            other[counts[digit]] = place
            counts[digit] += 1
        order, other = other, order
        shift += width
    return order
