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


@njit(f"Tuple((int64, int64, boolean))({READ})", cache=True, nogil=True)
def bounds_of(times):
    """Smallest, largest, and whether they never fall: loops without a branch, so that several are compared at once."""
    smallest = largest = times[0]
    for at in range(1, len(times)):
        smallest = min(smallest, times[at])
        largest = max(largest, times[at])
    falls = np.int64(0)
    for at in range(1, len(times)):
        falls += times[at] < times[at - 1]
    return smallest, largest, falls == 0


@njit(f"UniTuple(int64, 3)({READ})", cache=True, nogil=True)
def inspect_times(times):
    """Smallest, largest, and how far the worst tuple lies behind an earlier one."""
    smallest, largest, in_order = bounds_of(times)
    behind = np.int64(0)
    if not in_order:
        so_far = times[0]
        for time in times:
            behind = max(behind, so_far - time)
            so_far = max(so_far, time)
    return smallest, largest, behind


@njit(f"void({I8}, int64, int64, {I8}, int64)", cache=True, nogil=True)
def running_largest(times, start, stop, clock, so_far):
    """``clock[i]`` = the largest time up to and including arrival i."""
    for at in range(start, stop):
        so_far = max(so_far, times[at])
        clock[at] = so_far


_FEW = 1 << 12
_PLACE = np.uint64(32)
_PLACES = np.uint64((1 << 32) - 1)


@njit(f"UniTuple({I8}, 2)({READ}, int64, int64)", cache=True, nogil=True)
def time_order(times, smallest, largest):
    """The places of the times from smallest to largest, ties as they are, and the times in that order: a radix sort.

    The times lie less than 2 ** 32 apart, so a number holds how late one is and, in its lower half, its place.
    """
    bits = 0
    while (largest - smallest) >> bits:
        bits += 1
    passes = -(-bits // (8 if len(times) < _FEW else 11))
    width = -(-bits // max(passes, 1))
    mask = np.uint64((1 << width) - 1)
    keys, other = np.empty(len(times), np.uint64), np.empty(len(times), np.uint64)
    for at in range(len(times)):
        keys[at] = (np.uint64(times[at] - smallest) << _PLACE) | np.uint64(at)
    counts = np.empty(1 << width, np.int64)
    for done in range(passes):
        shift = np.uint64(32 + done * width)
        counts[:] = 0
        for key in keys:
            counts[(key >> shift) & mask] += 1
        start = 0
        for digit in range(len(counts)):
            start, counts[digit] = start + counts[digit], start
        for key in keys:
            bucket = (key >> shift) & mask
            other[counts[bucket]] = key
            counts[bucket] += 1
        keys, other = other, keys
    places, in_order = other.view(np.int64), keys.view(np.int64)
    for at in range(len(times)):
        places[at] = np.int64(keys[at] & _PLACES)
        in_order[at] = smallest + np.int64(keys[at] >> _PLACE)
    return places, in_order
