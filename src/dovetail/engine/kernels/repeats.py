"""Repeats of a stream: the times that are remembered of each id, the last one first."""

from dovetail.engine.kernels.signature import I8, READ
from dovetail.kernel import kernel

I4 = "int32[::1]"


@kernel(f"int64({I4}, {READ}, int64, {I4}, {I8}, {I4}, int64, boolean[::1])")
def mark_repeats(slots, asked, within, heads, times, before, count, repeated):
    """Mark rows, in order of arrival, whose id has a time that is near enough; the others' are remembered.

    A row without an id has slot -1. How many times are remembered then.
    """
    for i in range(len(slots)):
        slot = slots[i]
        repeated[i] = False
        if slot < 0:
            continue
        at = heads[slot]
        while at >= 0 and (asked[i] - times[at] > within or times[at] - asked[i] > within):
            at = before[at]
        if at >= 0:
            repeated[i] = True
        else:
            times[count], before[count], heads[slot] = asked[i], heads[slot], count
            count += 1
    return count
