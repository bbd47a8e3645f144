"""Which bucket joins what: a grid of cells, so that any predicate runs in parallel.

A cell is one coordinate on every axis. A tuple goes to its own coordinate on the axes it owns and is
copied along the others:

    A.x = B.x AND B.y = C.y, 4 buckets        axis x (2): A, B own it      axis y (2): B, C own it

                y=0           y=1
    x=0      A0  B00 C0    A0  B01 C1         A: 2 copies, B: 1 copy, C: 2 copies
    x=1      A1  B10 C0    A1  B11 C1

Three kinds of axis:

    key      the hash of an equality class; every stream with an expression in it owns a coordinate
    range    values cut into ranges of one width, each range hashed to a coordinate; the anchor stream
             owns its range, the others go to every range an anchor within the (transitive) band can be in
    stream   tuples of one stream dealt out in turn; nothing but that stream owns a coordinate

Every result meets in exactly one cell. On each axis at least one member owns a coordinate, so at most
one cell can hold all members; owners of a key axis hold equal values and so agree, and a member that
owns nothing is present at the coordinate of those that do. No rule about who may emit is needed.

Who may own: a stream with a row window over the whole stream must be seen whole in every cell (its
rows are counted), so it owns nothing; one with a row window per key may own key axes only. A stream
whose rows come out by themselves (the preserved side of an outer, semi or anti join) must be in one
cell only, so it owns every axis in use.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, prod

import pyarrow as pa

from dovetail.model.expression import Column, Expression, streams_of
from dovetail.model.predicate import Band, Equality
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow
from dovetail.plan.join_graph import key_classes
from dovetail.plan.keep_groups import keeps_groups

RANGE_WIDTH_IN_BANDS = 4  # a quarter of the tuples is near an edge and copied


@dataclass(frozen=True)
class KeyAxis:
    """The hash of ``keys[stream]``, expressions whose values are equal in every result."""

    keys: Mapping[str, tuple[Expression, ...]]
    size: int = 1

    def copies(self, stream: str) -> float:
        return 1 if stream in self.keys else self.size

    def __str__(self) -> str:
        owners = " = ".join(" & ".join(map(str, expressions)) for expressions in self.keys.values())
        return f"hash of {owners} ({self.size})"


@dataclass(frozen=True)
class Reach:
    """Where the anchor's value may be for a tuple of value v: within [v + low, v + high]."""

    expression: Expression
    low: float | int
    high: float | int


@dataclass(frozen=True)
class RangeAxis:
    """Ranges of ``width`` of the anchor's value, hashed; ``reaches[anchor]`` is exact."""

    anchor: str
    reaches: Mapping[str, Reach]
    width: float | int
    size: int = 1

    def copies(self, stream: str) -> float:
        if stream not in self.reaches:
            return self.size
        reach = self.reaches[stream]
        return min(self.size, 1 + (reach.high - reach.low) / self.width)

    def __str__(self) -> str:
        return f"ranges of {self.reaches[self.anchor].expression}, {self.width} wide ({self.size})"


@dataclass(frozen=True)
class StreamAxis:
    """Tuples of one stream in turn, or those that may be repeats of each other together."""

    stream: str
    size: int = 1
    together: tuple[Expression, ...] = ()

    def copies(self, stream: str) -> float:
        return 1 if stream == self.stream else self.size

    def __str__(self) -> str:
        owners = ", ".join(map(str, self.together))
        return f"hash of {owners} ({self.size})" if owners else f"rows of {self.stream} in turn ({self.size})"


Axis = KeyAxis | RangeAxis | StreamAxis


@dataclass(frozen=True)
class Grid:
    """The axes in use; cell numbers are their coordinates read as digits, the first axis the highest."""

    streams: tuple[str, ...]
    axes: tuple[Axis, ...] = ()
    rates: Mapping[str, float] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        return prod(axis.size for axis in self.axes)

    def copies(self, stream: str) -> float:
        """Into how many cells a tuple of this stream goes, on average."""
        return prod((axis.copies(stream) for axis in self.axes), start=1.0)

    @property
    def copy_factor(self) -> float:
        """Rows after copying for every row before."""
        rates = {stream: self.rates.get(stream, 1.0) for stream in self.streams}
        return sum(rates[stream] * self.copies(stream) for stream in self.streams) / sum(rates.values())

    def __str__(self) -> str:
        axes = " x ".join(map(str, self.axes)) or "everything together"
        copies = ", ".join(f"{stream} {self.copies(stream):g}" for stream in self.streams)
        return f"{self.cells} cells: {axes}; copies: {copies}; copy factor {self.copy_factor:.3g}"


def partition_grid(
    query: JoinQuery, buckets: int, rates: Mapping[str, float] | None = None, along: Sequence[Axis] | None = None
) -> Grid:
    """The grid of at most ``buckets`` cells whose cells have the least to take in; then the fewest copies.

    ``rates``: those of the query if they are not given. ``along``: it has none but these axes.
    """
    candidates = _candidates(query)
    if along is not None:
        wanted = [replace(axis, size=1) for axis in along]
        candidates = [axis for axis in candidates if axis in wanted]
    whole = Grid(query.names, (), dict(rates or _known_rates(query)))
    grids = (_with_sizes(whole, candidates, sizes) for sizes in _products(len(candidates), buckets))
    allowed = (grid for grid in grids if serves(grid, query))
    return min(allowed, key=lambda grid: (grid.copy_factor / grid.cells, grid.copy_factor, len(grid.axes)))


def _known_rates(query: JoinQuery) -> dict[str, float]:
    """Of all streams; nothing if some are not known, as those of intermediate results."""
    known = {stream.name: stream.rate for stream in query.streams if stream.rate is not None}
    return known if len(known) == len(query.names) else {}


def _candidates(query: JoinQuery) -> list[Axis]:
    if query.stepwise:
        return [*_axes_of_the_first(query), StreamAxis(query.names[0])]
    return [*_key_axes(query), *_range_axes(query), *_stream_axes(query)]


def _axes_of_the_first(query: JoinQuery) -> Iterator[KeyAxis]:
    """The columns of the first stream that others equal, those of the same streams together.

    A stream owns a coordinate if its own conditions compare it with one that does; one without is copied. So all
    partners of a row of the first stream, and theirs, are where it is, whichever of them there are.
    """
    first = query.names[0]
    pairs = [
        sides for p in query.predicates if isinstance(p, Equality) for sides in ((p.left, p.right), (p.right, p.left))
    ]
    by_owners: dict[tuple[str, ...], dict[str, tuple[Expression, ...]]] = {}
    for start in dict.fromkeys(left for left, _ in pairs if streams_of(left) == {first} and is_hashable(left.type)):
        keys = {first: start}
        for name in query.names[1:]:
            own = [far for near, far in pairs if _stream(far) == name and keys.get(_stream(near)) == near]
            keys |= {name: own[0]} if own else {}
        together = by_owners.setdefault(tuple(keys), dict.fromkeys(keys, ()))
        for name, expression in keys.items():
            together[name] += (expression,)
    return (KeyAxis(keys) for keys in by_owners.values())


def serves(grid: Grid, query: JoinQuery) -> bool:
    """Whether rows that come out on their own, and groups of aggregates, are whole in one cell."""
    alone = query.names[:1] if query.how == "semi" else query.preserved
    return all(_in_one_cell(grid, stream) for stream in alone) and keeps_groups(query, grid)


def _with_sizes(whole: Grid, candidates: Sequence[Axis], sizes: Sequence[int]) -> Grid:
    used = (replace(axis, size=size) for axis, size in zip(candidates, sizes, strict=True) if size > 1)
    return replace(whole, axes=tuple(used))


def _products(length: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Every tuple of ``length`` sizes whose product is at most ``limit``."""
    if length == 0:
        yield ()
        return
    for size in range(1, limit + 1):
        for rest in _products(length - 1, limit // size):
            yield (size, *rest)


def _in_one_cell(grid: Grid, stream: str) -> bool:
    return grid.copies(stream) == 1


def _may_own(query: JoinQuery, stream: str, axis: type[Axis]) -> bool:
    window = query.stream(stream).window
    return not isinstance(window, RowWindow) or (window.per == "key" and axis is KeyAxis)


def _key_axes(query: JoinQuery) -> Iterator[KeyAxis]:
    """One axis per set of owners: classes with the same owners are hashed together."""
    by_owners: dict[tuple[str, ...], dict[str, tuple[Expression, ...]]] = {}
    for members in _equality_classes(query):
        owned = {name: members[name] for name in query.names if name in members and _may_own(query, name, KeyAxis)}
        keys = by_owners.setdefault(tuple(owned), dict.fromkeys(owned, ()))
        for name, expression in owned.items():
            keys[name] += (expression,)
    return (KeyAxis(keys) for keys in by_owners.values() if keys)


def _equality_classes(query: JoinQuery) -> Iterator[dict[str, Expression]]:
    """For each class of expressions that are equal in every result, one expression per stream."""
    hashable = [p for p in query.predicates if isinstance(p, Equality) and is_hashable(p.left.type)]
    for members in key_classes(hashable):
        yield {_stream(expression): expression for expression in reversed(members)}


def is_hashable(type_: pa.DataType) -> bool:
    """Whether equal values of this type are sure to have equal bytes, after what ``hash_columns`` evens out."""
    return not pa.types.is_nested(type_) and not pa.types.is_null(type_)


def _range_axes(query: JoinQuery) -> Iterator[RangeAxis]:
    """One candidate per stream that could be the anchor of its bands."""
    bands = [
        band for band in query.predicates if isinstance(band, Band) and band.low is not None and band.high is not None
    ]
    ends = dict.fromkeys(end for band in bands for end in (band.left, band.right))
    for anchor in ends:
        if _may_own(query, _stream(anchor), RangeAxis):
            yield _range_axis(anchor, bands)


def _range_axis(anchor: Expression, bands: Sequence[Band]) -> RangeAxis:
    reaches = _reaches(anchor, bands)
    whole = all(pa.types.is_integer(reach.expression.type) for reach in reaches.values())
    if whole:
        reaches = {name: replace(reach, low=floor(reach.low), high=ceil(reach.high)) for name, reach in reaches.items()}
    span = max(reach.high - reach.low for reach in reaches.values())
    return RangeAxis(_stream(anchor), reaches, RANGE_WIDTH_IN_BANDS * span or 1)


def _reaches(anchor: Expression, bands: Sequence[Band]) -> dict[str, Reach]:
    """Follow the bands outwards from the anchor, adding them up; the first way found to a stream counts."""
    found = {_stream(anchor): Reach(anchor, 0, 0)}
    ahead = [Reach(anchor, 0, 0)]
    while ahead:
        near = ahead.pop(0)
        for far in (_step(near, band) for band in bands):
            if far and _stream(far.expression) not in found:
                found[_stream(far.expression)] = far
                ahead.append(far)
    return found


def _step(near: Reach, band: Band) -> Reach | None:
    assert band.low is not None
    assert band.high is not None
    if band.left == near.expression:
        return Reach(band.right, near.low + band.low, near.high + band.high)
    if band.right == near.expression:
        return Reach(band.left, near.low - band.high, near.high - band.low)
    return None


def _stream_axes(query: JoinQuery) -> Iterator[StreamAxis]:
    owners = (stream for stream in query.streams if _may_own(query, stream.name, StreamAxis))
    return (StreamAxis(stream.name, 1, _compared(stream)) for stream in owners)


def _compared(stream: Stream) -> tuple[Expression, ...]:
    names = () if stream.dedup is None else stream.dedup.compared
    return tuple(Column(stream.name, name, stream.schema.field(name).type) for name in names)


def _stream(expression: Expression) -> str:
    (name,) = streams_of(expression)
    return name
