"""The loops of routing: arrays in, arrays out, compiled once and cached on disk.

A result is a point, one small number per coordinate; a query is a box, a range on some of the coordinates. The
constraints of all queries lie one after another: those of query q are ``starts[q] .. starts[q + 1] - 1``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from dovetail.engine.kernels.signature import I8
from dovetail.kernel import kernel

_I4 = "int32[::1]"
_BOXES = f"int32[:, ::1], {_I4}, {_I4}, {_I4}, {_I4}"


@kernel("boolean(int32[:, ::1], int64, int32[::1], int32[::1], int32[::1], int64, int64)")
def _is_inside(points, point, coordinates, lows, highs, first, last):
    for at in range(first, last):
        value = points[coordinates[at], point]
        if value < lows[at] or value > highs[at]:
            return False
    return True


@kernel(f"int64({_BOXES})")
def count_inside(points, starts, coordinates, lows, highs):
    """How many pairs of a point and a box that it lies in."""
    pairs = 0
    for point in range(points.shape[1]):
        for box in range(len(starts) - 1):
            if _is_inside(points, point, coordinates, lows, highs, starts[box], starts[box + 1]):
                pairs += 1
    return pairs


@kernel(f"void({_BOXES}, {I8}, {I8})")
def list_inside(points, starts, coordinates, lows, highs, found_points, found_boxes):
    """Those pairs, point by point."""
    n = 0
    for point in range(points.shape[1]):
        for box in range(len(starts) - 1):
            if _is_inside(points, point, coordinates, lows, highs, starts[box], starts[box + 1]):
                found_points[n] = point
                found_boxes[n] = box
                n += 1


@kernel(f"void({I8}, {I8}, {I8}, int64, int64, {I8}, int64, {I8})")
def ranks_in_key(ids, newest, times, base, end, follower, most, ranks):
    """How many later tuples of its key each tuple has up to and including a time; at most ``most``."""
    for at in range(len(ids)):
        rank, following = 0, follower[ids[at] - base]
        while rank < most and base <= following < end:
            if times[following - base] > newest[at]:
                break
            rank += 1
            following = follower[following - base]
        ranks[at] = rank


@kernel(f"void({I8}, {I8}, int64, int64, {I8}, int64, {I8})")
def followers_at(ids, times, base, end, follower, count, found):
    """The time of the so-manieth later tuple of each tuple's key; where there is none, what stands there stays."""
    for at in range(len(ids)):
        rank, following = 1, follower[ids[at] - base]
        while rank < count and base <= following < end:
            rank += 1
            following = follower[following - base]
        if base <= following < end:
            found[at] = times[following - base]
