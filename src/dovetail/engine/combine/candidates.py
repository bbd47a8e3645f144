"""One step of a probe: the tuples of the next stream that fit each partial result.

A step is bound once to the windows it reads, then asked for every block. Whatever the access, the
answer comes in pieces of (parent, tuple id) pairs of bounded size; a tuple's time lies in
``[newest - width, expiry]`` of its parent. The arrays of a piece are reused by the next one: a piece
must be consumed before the next is asked for.

    equality     hash chains    sorted runs    a dense loop      (the last rows of a key: the front of its chain)
    one of some  hash chains
    band         hashed cells   sorted runs    a dense loop
    both                        sorted runs
    similarity                                 matrix products
    only time                                  a dense loop
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dovetail.engine import kernels
from dovetail.engine.buffer.paired import PairIndex
from dovetail.engine.buffer.ranked import SortedIndex
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.bands import BandArguments, value_ranges
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.row_windows import RowWindowed
from dovetail.engine.combine.similarity import similar_pairs
from dovetail.model.expression import streams_of
from dovetail.model.predicate import Band
from dovetail.plan.physical import (
    Access,
    AnyAccess,
    BandAccess,
    Cells,
    Key,
    KeyAccess,
    Number,
    Option,
    PairAccess,
    SimilarityAccess,
)

PIECE = 1 << 17  # two arrays of a megabyte, which stay in the second cache

Windows = Mapping[str, Window]
Piece = tuple[Ids, Ids]
Array = npt.NDArray[Any]


class CandidateStep(Protocol):
    """How the next stream's candidates are found; ``walks``: along chains, so that one way leads through all ages."""

    walks: bool

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        """Pairs of (parent, id)."""


def bind(
    access: Access, windows: Windows, window: Window, width: int, rows: RowWindowed | None = None
) -> CandidateStep:
    """The step that an access means for these windows; ``rows``: what is known of a row window, if it may be used."""
    if (
        isinstance(access, KeyAccess)
        and rows is not None
        and rows.counts_by(access.own)
        and access.own in window.indexes.hashed
    ):
        return _LastRows(_bound_key(access, windows), access.own, window, width, rows)
    if isinstance(access, KeyAccess):
        return _key_step(access, windows, window, width)
    if isinstance(access, BandAccess):
        return _band_step(access, windows, window, width)
    if isinstance(access, PairAccess):
        return _Paired(access, windows, window, width)
    if isinstance(access, AnyAccess):
        return _AnyOf(access, windows, window, width)
    if isinstance(access, SimilarityAccess):
        return _Similar(access, windows[access.bound_stream], window, width)
    return _Scanned(window, width)


class _Scratch:
    """The output arrays of one step, and the loop around a kernel that fills them and is called again."""

    walks = False

    def __init__(self, window: Window, width: int) -> None:
        self.window, self.width = window, width
        self.parents, self.found = np.empty(PIECE, np.int64), np.empty(PIECE, np.int64)

    def piece(self, n: int) -> Piece:
        return self.parents[:n], self.found[:n]

    def filled(self, count: int, probe: Callable[[int, int], tuple[int, int, int]]) -> Iterator[Piece]:
        """Call a probing kernel from where it stood until all ``count`` partial results are done."""
        p, resume = 0, -1
        while p < count:
            n, p, resume = probe(p, resume)
            yield self.piece(n)


class _Bound:
    """The numbers to look for: of one bound stream, or combined from the codes of several."""

    def __init__(self, windows: Windows, owner: str, attribute: Key | Number | Option) -> None:
        self._owner, self._window, self._source = owner, windows[owner], windows[owner].source(attribute)

    def where(self, partial: Partial) -> tuple[Array, Ids, int]:
        """An array of numbers, and of each partial result the id and the base by which its number is found there."""
        return self._source.data, partial.ids[self._owner], self._window.base

    def values(self, partial: Partial) -> Array:
        """The number of each partial result."""
        return self._source.data.take(partial.ids[self._owner] - self._window.base)


class _BoundTogether:
    def __init__(self, windows: Windows, access: KeyAccess) -> None:
        self._parts = [_Bound(windows, _owner(e), Key((e,))) for e in access.bound]

    def where(self, partial: Partial) -> tuple[Array, Ids, int]:
        return self.values(partial), np.arange(len(partial)), 0

    def values(self, partial: Partial) -> Array:
        first, *rest = (part.values(partial) for part in self._parts)
        for part in rest:
            first = kernels.combine_codes(first, part)
        return first


def _owner(expression: Any) -> str:
    (name,) = streams_of(expression)
    return name


def _bound_key(access: KeyAccess, windows: Windows) -> _Bound | _BoundTogether:
    owners = {_owner(expression) for expression in access.bound}
    return _Bound(windows, owners.pop(), Key(access.bound)) if len(owners) == 1 else _BoundTogether(windows, access)


def _key_step(access: KeyAccess, windows: Windows, window: Window, width: int) -> CandidateStep:
    bound = _bound_key(access, windows)
    if access.own in window.indexes.hashed:
        return _Hashed(bound, access.own, window, width)
    if access.own in window.indexes.ranked:
        return _Ranked(bound, access.own, _EQUAL, True, window, width)
    return _ScannedKeys(bound, access.own, window, width)


def _band_step(access: BandAccess, windows: Windows, window: Window, width: int) -> CandidateStep:
    bound = _Bound(windows, access.bound_stream, access.bound)
    is_left = access.band.left == access.own.expression
    if access.cells in window.indexes.celled:
        return _Celled(bound, access.own, access.cells, access.band, is_left, window, width)
    if access.own in window.indexes.ranked:
        return _Ranked(bound, access.own, access.band, is_left, window, width)
    return _ScannedBand(bound, access.own, access.band, is_left, window, width)


class _Hashed(_Scratch):
    walks = True

    def __init__(self, bound: _Bound | _BoundTogether, own: Key | Option, window: Window, width: int) -> None:
        super().__init__(window, width)
        self._bound, self._own, self._index = bound, window.source(own), window.indexes.hashed[own]

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        codes, bound, base = self._bound.where(partial)
        own, window, index = self._own.data, self.window, self._index
        return self.filled(len(partial), lambda p, resume: kernels.hash_probe(
            codes, bound, base, partial.newest, self.width, partial.expiry, own, window.times, index.nexts, index.heads,
            index.shift, window.base, window.tail, window.slack, p, resume, self.parents, self.found,
        ))  # fmt: skip


class _LastRows(_Scratch):
    """Of each key only the tuples that are inside a row window at the time of the probe, and newer ones."""

    walks = True

    def __init__(self, bound: _Bound | _BoundTogether, own: Key, window: Window, width: int, rows: RowWindowed) -> None:
        super().__init__(window, width)
        self._bound, self._own, self._index, self._rows = bound, window.source(own), window.indexes.hashed[own], rows

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        codes, bound, base = self._bound.where(partial)
        own, window, index, leaves = self._own.data, self.window, self._index, self._rows.linked()
        eligible = window.eligible_slots
        return self.filled(len(partial), lambda p, resume: kernels.last_rows_probe(
            codes, bound, base, partial.newest, partial.expiry, own, window.times, leaves, eligible, index.nexts,
            index.heads, index.shift, window.base, window.tail, p, resume, self.parents, self.found,
        ))  # fmt: skip


class _AnyOf:
    """One probe after the other; what an earlier one has found is left out, so that no pair comes twice."""

    walks = True

    def __init__(self, access: AnyAccess, windows: Windows, window: Window, width: int) -> None:
        bound = [_Bound(windows, access.bound_stream, other) for _, other in access.options]
        self._window, self._bound = window, bound
        self._own = [window.source(own) for own, _ in access.options]
        self._steps = [_Hashed(b, own, window, width) for b, (own, _) in zip(bound, access.options, strict=True)]

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        codes = [bound.values(partial) for bound in self._bound]
        for at, step in enumerate(self._steps):
            for parents, ids in step.pieces(partial):
                fresh, slots = np.ones(len(ids), np.bool_), ids - self._window.base
                for wanted, own in zip(codes[:at], self._own, strict=False):
                    fresh &= wanted[parents] != own.data[slots]
                yield parents[fresh], ids[fresh]


class _ScannedKeys(_Scratch):
    def __init__(self, bound: _Bound | _BoundTogether, own: Key, window: Window, width: int) -> None:
        super().__init__(window, width)
        self._bound, self._own = bound, window.source(own)

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        codes, lows, own, window = self._bound.values(partial), partial.newest - self.width, self._own.data, self.window
        return self.filled(len(partial), lambda p, resume: kernels.scan_equal(
            codes, lows, partial.expiry, own, window.times, window.clock, window.base, window.tail, window.shown,
            window.slack, p, resume, self.parents, self.found,
        ))  # fmt: skip


class _Celled(_Scratch):
    walks = True

    def __init__(
        self, bound: _Bound, own: Number, cells: Cells, band: Band, is_left: bool, window: Window, width: int
    ) -> None:
        super().__init__(window, width)
        self._bound, self._own, self._index = bound, window.source(own), window.indexes.celled[cells]
        self._arguments = BandArguments(band, is_left)

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        values, own, window, index = self._bound.values(partial), self._own.data, self.window, self._index
        low, high, flags = self._arguments.of(own.dtype)
        firsts, lasts = value_ranges(values, low, high, flags)
        p, place, resume = 0, 0, -1
        while p < len(partial):
            n, p, place, resume = kernels.cell_probe(
                values, firsts, lasts, partial.newest, self.width, partial.expiry, low, high, flags, own, window.times,
                index.nexts, index.heads, index.shift, index.per_unit, window.base, window.tail, window.slack,
                p, place, resume, self.parents, self.found,
            )  # fmt: skip
            yield self.piece(n)


class _ScannedBand(_Scratch):
    def __init__(self, bound: _Bound, own: Number, band: Band, is_left: bool, window: Window, width: int) -> None:
        super().__init__(window, width)
        self._bound, self._own, self._arguments = bound, window.source(own), BandArguments(band, is_left)

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        values, lows, own, window = (
            self._bound.values(partial),
            partial.newest - self.width,
            self._own.data,
            self.window,
        )
        low, high, flags = self._arguments.of(own.dtype)
        firsts, lasts = value_ranges(values, low, high, flags)
        return self.filled(len(partial), lambda p, resume: kernels.scan_band(
            values, firsts, lasts, lows, partial.expiry, low, high, flags, own, window.times, window.clock, window.base,
            window.tail, window.shown, window.slack, p, resume, self.parents, self.found,
        ))  # fmt: skip


class _Ranked(_Scratch):
    def __init__(
        self,
        bound: _Bound | _BoundTogether,
        own: Key | Number,
        band: Band,
        is_left: bool,
        window: Window,
        width: int,
    ) -> None:
        super().__init__(window, width)
        self._bound, self._index, self._arguments = bound, window.indexes.ranked[own], BandArguments(band, is_left)

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        if self._index.is_empty:
            return
        values, lows, index, window = self._bound.values(partial), partial.newest - self.width, self._index, self.window
        low, high, flags = self._arguments.of(index.ranked.dtype)
        firsts, lasts = value_ranges(values, low, high, flags)
        runs = _runs_in_time(index, window, lows, partial)
        p, run, at = 0, 0, -1
        while p < len(partial):
            n, p, run, at = kernels.sorted_probe(
                values, firsts, lasts, lows, partial.expiry, low, high, flags, index.ranked, index.ids, runs,
                window.times, window.base, window.tail, p, run, at, self.parents, self.found,
            )  # fmt: skip
            yield self.piece(n)


class _Paired(_Scratch):
    def __init__(self, access: PairAccess, windows: Windows, window: Window, width: int) -> None:
        super().__init__(window, width)
        index, band = window.indexes.ranked[access.own], access.band
        assert isinstance(index, PairIndex)
        self._index, self._arguments = index, BandArguments(band.band, band.band.left == band.own.expression)
        self._codes, self._values = _bound_key(access.key, windows), _Bound(windows, band.bound_stream, band.bound)

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        if self._index.is_empty:
            return
        values, lows, index, window = (
            self._values.values(partial),
            partial.newest - self.width,
            self._index,
            self.window,
        )
        low, high, flags = self._arguments.of(index.ranked.dtype)
        firsts, lasts = value_ranges(values, low, high, flags)
        codes, runs = self._codes.values(partial), _runs_in_time(index, window, lows, partial)
        p, run, at = 0, 0, -1
        while p < len(partial):
            n, p, run, at = kernels.pair_probe(
                codes, values, firsts, lasts, lows, partial.expiry, low, high, flags, index.codes, index.ranked,
                index.ids, runs, window.times, window.base, window.tail, p, run, at, self.parents, self.found,
            )  # fmt: skip
            yield self.piece(n)


def _runs_in_time(index: SortedIndex, window: Window, lows: Ids, partial: Partial) -> Ids:
    """The runs that can hold what some partial result may meet."""
    if index.largest is None or not len(partial):
        return index.runs
    oldest, newest = int(lows.min()), int(partial.expiry.max())
    return index.between(window.clock, window.base, window.tail, window.slack, oldest, newest)


class _Scanned(_Scratch):
    def pieces(self, partial: Partial) -> Iterator[Piece]:
        lows, window = partial.newest - self.width, self.window
        return self.filled(len(partial), lambda p, resume: kernels.scan_all(
            lows, partial.expiry, window.times, window.clock, window.base, window.tail, window.shown, window.slack,
            p, resume, self.parents, self.found,
        ))  # fmt: skip


class _Similar:
    walks = False

    def __init__(self, access: SimilarityAccess, bound: Window, window: Window, width: int) -> None:
        self._access, self._bound, self._window, self._width = access, bound, window, width

    def pieces(self, partial: Partial) -> Iterator[Piece]:
        return similar_pairs(self._access, self._bound, self._window, partial, partial.newest - self._width)


_EQUAL = Band(left=None, right=None, low=0, high=0)  # type: ignore[arg-type]  # only its bounds are read
