"""Event times: of blocks, of windows, of partial results."""

import numpy as np

from dovetail.engine.kernels.signature import I8, READ
from dovetail.kernel import interpretable


@interpretable(f"void({I8}, {I8}, {I8}, {I8}, {I8}, int64, int64, {I8}, {I8})")
def extend(parents, found, newest, expiry, times, base, width, newest_out, expiry_out):
    """Newest and expiry of each parent together with the tuple found for it."""
    for at in range(len(parents)):
        time = times[found[at] - base]
        newest_out[at] = max(newest[parents[at]], time)
        expiry_out[at] = min(expiry[parents[at]], time + width)


@interpretable(f"Tuple((int64, int64, boolean))({READ})")
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


@interpretable(f"UniTuple(int64, 3)({READ})")
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


@interpretable(f"void({I8}, int64, int64, {I8}, int64)")
def running_largest(times, start, stop, clock, so_far):
    """``clock[i]`` = the largest time up to and including arrival i."""
    for at in range(start, stop):
        so_far = max(so_far, times[at])
        clock[at] = so_far
