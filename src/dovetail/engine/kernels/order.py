"""Putting times in order: the work of every ordered output."""

import numpy as np

from dovetail.engine.kernels.signature import I8, READ, U8
from dovetail.kernel import interpretable

_PLACE = np.uint64(32)
_PLACES = np.uint64((1 << 32) - 1)
_MOVES = 8  # so many steps a time, and the radix sort would have been faster


@interpretable(f"void({READ}, int64, int64, {U8})")
def _spread_out(times, smallest, bits, keys):
    """Keys by the leading bits of their time, a bucket for about each: where they lie evenly, nearly in order."""
    leading = 0
    while (1 << leading) < len(times) and leading < bits:
        leading += 1
    shift = bits - leading
    starts = np.zeros((1 << leading) + 1, np.int32)
    for time in times:
        starts[((time - smallest) >> shift) + 1] += 1
    for bucket in range(1 << leading):
        starts[bucket + 1] += starts[bucket]
    for at in range(len(times)):
        late = times[at] - smallest
        bucket = late >> shift
        keys[starts[bucket]] = (np.uint64(late) << _PLACE) | np.uint64(at)
        starts[bucket] += 1


@interpretable(f"boolean({U8})")
def _straighten(keys):
    """Put keys in order that nearly are; False if they turn out not to be."""
    left = _MOVES * len(keys)
    for at in range(1, len(keys)):
        key, to = keys[at], at
        while to > 0 and keys[to - 1] > key:
            keys[to] = keys[to - 1]
            to -= 1
        keys[to] = key
        left -= at - to
        if left < 0:
            return False
    return True


@interpretable(f"UniTuple({U8}, 2)({READ}, int64, int64, {U8}, {U8})")
def _sort_digits(times, smallest, bits, keys, other):
    """A radix sort, least digit first, of times that lie unevenly."""
    passes = -(-bits // 11)
    width = -(-bits // passes)
    mask = np.uint64((1 << width) - 1)
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
    return keys, other


@interpretable(f"UniTuple({I8}, 2)({READ}, int64, int64)")
def time_order(times, smallest, largest):
    """The places of the times from smallest to largest, ties as they are, and the times in that order.

    The times lie less than 2 ** 32 apart, so a number holds how late one is and, in its lower half, its place.
    """
    bits = 0
    while (largest - smallest) >> bits:
        bits += 1
    keys, spare = np.empty(len(times), np.uint64), np.empty(len(times), np.uint64)
    _spread_out(times, smallest, bits, keys)
    if not _straighten(keys):
        keys, spare = _sort_digits(times, smallest, bits, keys, spare)
    places, in_order = spare.view(np.int64), keys.view(np.int64)
    for at in range(len(times)):
        places[at] = np.int64(keys[at] & _PLACES)
        in_order[at] = smallest + np.int64(keys[at] >> _PLACE)
    return places, in_order
