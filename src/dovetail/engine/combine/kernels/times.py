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
