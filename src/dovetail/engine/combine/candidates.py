"""One step of a probe: the tuples of the next stream that fit each partial result.

Whatever the access, the answer comes in pieces of (parent, tuple id) pairs of bounded size. The
arrays of a piece are reused by the next one: a piece must be consumed before the next is asked for.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine import kernels
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.similarity import similar_pairs
from dovetail.model.expression import streams_of
from dovetail.model.predicate import Band
from dovetail.plan.physical import Access, BandAccess, Key, KeyAccess, SimilarityAccess

PIECE = 1 << 17

Windows = Mapping[str, Window]
Piece = tuple[Ids, Ids]


class Scratch:
    """The output arrays of one level of the probe."""

    def __init__(self, size: int = PIECE) -> None:
        self.parents, self.found = np.empty(size, np.int64), np.empty(size, np.int64)

    def piece(self, n: int) -> Piece:
        return self.parents[:n], self.found[:n]

    def pieces(self, count: int, probe: Callable[[int, int], tuple[int, int, int]]) -> Iterator[Piece]:
        """Call a probing kernel from where it stood until all ``count`` partial results are done."""
        p, resume = 0, -1
        while p < count:
            n, p, resume = probe(p, resume)
            yield self.piece(n)


def candidates(
    access: Access, windows: Windows, window: Window, partial: Partial, lows: Ids, scratch: Scratch
) -> Iterator[Piece]:
    """Pieces of (parent, id) pairs; ``lows`` and the partial's expiry bound the tuple's time."""
    if isinstance(access, KeyAccess):
        yield from _by_key(access, windows, window, partial, lows, scratch)
    elif isinstance(access, BandAccess):
        values = bound_numbers(windows, access, partial)
        yield from _by_band(access, access.band, values, window, partial, lows, scratch)
    elif isinstance(access, SimilarityAccess):
        yield from similar_pairs(access, windows[access.bound_stream], window, partial, lows)
    else:
        yield from _by_time(window, partial, lows, scratch)


def _by_key(
    access: KeyAccess, windows: Windows, window: Window, partial: Partial, lows: Ids, scratch: Scratch
) -> Iterator[Piece]:
    codes = bound_codes(windows, access, partial)
    index = window.hashed.get(access.own)
    if index is not None:
        own = window.attribute(access.own)
        yield from scratch.pieces(len(partial), lambda p, resume: kernels.hash_probe(
            codes, lows, partial.expiry, own, window.times, index.nexts, index.heads, index.shift,
            window.base, window.tail, window.slack, p, resume, scratch.parents, scratch.found,
        ))  # fmt: skip
    elif access.own in window.ranked:
        yield from _in_runs(access.own, _EQUAL, True, codes, window, partial, lows, scratch)
    else:
        own = window.attribute(access.own)
        yield from scratch.pieces(len(partial), lambda p, resume: kernels.scan_equal(
            codes, lows, partial.expiry, own, window.times, window.clock, window.base, window.tail, window.end,
            window.slack, p, resume, scratch.parents, scratch.found,
        ))  # fmt: skip


def _by_band(
    access: BandAccess,
    band: Band,
    values: npt.NDArray[Any],
    window: Window,
    partial: Partial,
    lows: Ids,
    scratch: Scratch,
) -> Iterator[Piece]:
    is_left = band.left == access.own.expression
    if access.own in window.ranked:
        yield from _in_runs(access.own, band, is_left, values, window, partial, lows, scratch)
        return
    own = window.attribute(access.own)
    low, high, flags = band_arguments(band, is_left, own.dtype)
    firsts, lasts = value_ranges(values, low, high, flags)
    yield from scratch.pieces(len(partial), lambda p, resume: kernels.scan_band(
        values, firsts, lasts, lows, partial.expiry, low, high, flags, own, window.times, window.clock, window.base,
        window.tail, window.end, window.slack, p, resume, scratch.parents, scratch.found,
    ))  # fmt: skip


def _in_runs(
    attribute: object,
    band: Band,
    is_left: bool,
    values: npt.NDArray[Any],
    window: Window,
    partial: Partial,
    lows: Ids,
    scratch: Scratch,
) -> Iterator[Piece]:
    index = window.ranked[attribute]  # type: ignore[index]  # a Key or Number, by the plan
    low, high, flags = band_arguments(band, is_left, index.ranked.dtype)
    firsts, lasts = value_ranges(values, low, high, flags)
    p, run, at = 0, 0, -1
    while p < len(partial):
        n, p, run, at = kernels.sorted_probe(
            values, firsts, lasts, lows, partial.expiry, low, high, flags, index.ranked, index.ids, index.runs,
            window.times, window.base, window.tail, p, run, at, scratch.parents, scratch.found,
        )  # fmt: skip
        yield scratch.piece(n)


def _by_time(window: Window, partial: Partial, lows: Ids, scratch: Scratch) -> Iterator[Piece]:
    yield from scratch.pieces(len(partial), lambda p, resume: kernels.scan_all(
        lows, partial.expiry, window.times, window.clock, window.base, window.tail, window.end, window.slack,
        p, resume, scratch.parents, scratch.found,
    ))  # fmt: skip


def bound_codes(windows: Windows, access: KeyAccess, partial: Partial) -> Ids:
    """The code to look for, of each partial result."""
    owners = [next(iter(streams_of(expression))) for expression in access.bound]
    if len(set(owners)) == 1:
        return _gather(windows[owners[0]], Key(access.bound), partial.ids[owners[0]])
    parts = [
        _gather(windows[owner], Key((expression,)), partial.ids[owner])
        for owner, expression in zip(owners, access.bound, strict=True)
    ]
    codes = parts[0]
    for part in parts[1:]:
        codes = kernels.combine_codes(codes, part)
    return codes


def bound_numbers(windows: Windows, access: BandAccess, partial: Partial) -> npt.NDArray[Any]:
    """The value to compare with, of each partial result."""
    return _gather(windows[access.bound_stream], access.bound, partial.ids[access.bound_stream])


def _gather(window: Window, attribute: object, ids: Ids) -> npt.NDArray[Any]:
    numbers = window.attribute(attribute)  # type: ignore[arg-type]  # an Attribute, by the plan
    return np.ascontiguousarray(numbers[ids - window.base])


_ENDS = np.iinfo(np.int64)
_EQUAL = Band(left=None, right=None, low=0, high=0)  # type: ignore[arg-type]  # only its bounds are read


def band_arguments(band: Band, is_left: bool, dtype: np.dtype) -> tuple[Any, Any, int]:
    """Bounds in the kernel's number type, and its flags."""
    flags = kernels.WINDOW_IS_LEFT if is_left else 0
    flags |= kernels.HAS_LOW if band.low is not None else 0
    flags |= kernels.HAS_HIGH if band.high is not None else 0
    flags |= kernels.LOW_STRICT if band.low_strict else 0
    flags |= kernels.HIGH_STRICT if band.high_strict else 0
    if (band.low, band.high) in ((0, None), (None, 0)):
        flags |= kernels.PLAIN
    if dtype == np.int64:
        flags |= kernels.EXACT
    return dtype.type(band.low or 0), dtype.type(band.high or 0), flags


def value_ranges(
    values: npt.NDArray[Any], low: Any, high: Any, flags: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """For each value the smallest and largest window value that can lie in its band.

    Of integers exactly these do, and where there are none the smallest is above the largest. Floats are widened by
    more than rounding can move a difference.
    """
    if flags & kernels.EXACT:
        low, high = int(low) + bool(flags & kernels.LOW_STRICT), int(high) - bool(flags & kernels.HIGH_STRICT)
    if flags & kernels.WINDOW_IS_LEFT:
        below, above, has_below, has_above = low, high, flags & kernels.HAS_LOW, flags & kernels.HAS_HIGH
    else:
        below, above, has_below, has_above = -high, -low, flags & kernels.HAS_HIGH, flags & kernels.HAS_LOW
    if flags & kernels.EXACT:
        return _integers(values, below if has_below else None, above if has_above else None)
    return _floats(values, below, has_below, -1), _floats(values, above, has_above, +1)


def _floats(values: npt.NDArray[Any], by: float, bounded: int, side: int) -> npt.NDArray[Any]:
    if not bounded:
        return np.full(len(values), side * np.inf)
    margin = np.where(np.isinf(values), 0, 4e-15 * np.abs(values) + 4e-15 * abs(by))
    widened: npt.NDArray[Any] = values + by + side * margin
    return widened


def _integers(values: Ids, below: int | None, above: int | None) -> tuple[Ids, Ids]:
    firsts, lasts = np.full(len(values), _ENDS.min), np.full(len(values), _ENDS.max)
    if below is not None:
        moved, too_small, too_large = _moved(values, below)
        firsts = np.where(too_small, _ENDS.min, moved)
        lasts[too_large] = _ENDS.min
        firsts[too_large] = _ENDS.max
    if above is not None:
        moved, too_small, too_large = _moved(values, above)
        lasts = np.where(too_large, lasts, np.where(too_small, _ENDS.min, np.minimum(moved, lasts)))
        firsts[too_small] = _ENDS.max
    return firsts, lasts


def _moved(values: Ids, by: int) -> tuple[Ids, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Sums, and which of them fell below and above what 64 bits hold."""
    step = np.int64(min(max(by, _ENDS.min), _ENDS.max))
    moved = values + step
    return moved, (step < 0) & (moved > values), (step > 0) & (moved < values)
