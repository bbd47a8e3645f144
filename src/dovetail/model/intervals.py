"""What conditions on the times of streams say about their windows.

    B.ts BETWEEN A.ts + INTERVAL '5' MINUTE AND A.ts + INTERVAL '10' MINUTE

A row of A is at most 10 minutes older than a row of B that it meets, and one of B never older than one of A: so A needs
a window of 10 minutes and B one of zero, and no result is lost by either. Bounds add up along a chain of streams: with
C.ts BETWEEN B.ts AND B.ts + INTERVAL '1' MINUTE, A needs 11 minutes. A window that a stream has bounds the others too.

A stream for which nothing says how far back it counts has no window, if its rows need not be kept for ever: it ends, or
all others do. Times in one period, DATE_TRUNC('hour', A.ts) = DATE_TRUNC('hour', B.ts), are less than that apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import pyarrow as pa

from dovetail.errors import QueryError
from dovetail.model.duration import PERIODS_US
from dovetail.model.expression import Call, Column, Expression, Literal, columns_of
from dovetail.model.how import How
from dovetail.model.predicate import Band, Equality, Predicate, predicate_streams
from dovetail.model.steps import step_of, there_with
from dovetail.model.stream import Stream
from dovetail.model.window import UNBOUNDED_US, TimeWindow

_ENDLESS = UNBOUNDED_US
_CLOCKS_BACK_US = 3 * 3_600_000_000  # at most so much longer is a period in which clocks are put back
Bounds = dict[tuple[str, str], int]  # the largest that the time of one stream less that of another can be


def with_implied_windows(
    streams: Sequence[Stream], predicates: Sequence[Predicate], words: Mapping[str, How] | None = None
) -> tuple[Stream, ...]:
    """Streams without a window with the smallest that loses no result: of conditions on times, or none at all.

    ``words``: by these streams are joined one after the other. One may be missing, and then it bounds nobody.
    """
    bounds = _bounds_stepwise(streams, predicates, words) if words else time_bounds(streams, predicates)
    return tuple(_windowed(stream, streams, bounds) for stream in streams)


def time_bounds(streams: Sequence[Stream], predicates: Iterable[Predicate]) -> Bounds:
    """For pairs of streams that are all there, from conditions and windows, how much later the first can be."""
    bounds = _bounds(streams, predicates)
    for stream in streams:
        if isinstance(stream.window, TimeWindow):
            for other in streams:
                _tighten(bounds, other.name, stream.name, stream.window.length_us)
    _close(bounds, [stream.name for stream in streams])
    return bounds


def _bounds_stepwise(streams: Sequence[Stream], predicates: Sequence[Predicate], words: Mapping[str, How]) -> Bounds:
    """For each pair of streams what follows from the streams that must be there if both of them are."""
    names = [stream.name for stream in streams]
    bounds: Bounds = {}
    for one, other in permutations(names, 2):
        there = there_with((one, other), names, words, predicates)
        bound = time_bounds(
            [stream for stream in streams if stream.name in there],
            [predicate for predicate in predicates if predicate_streams(predicate) <= there],
        )
        _tighten(bounds, one, other, bound.get((one, other), _ENDLESS))
    return bounds


def _windowed(stream: Stream, streams: Sequence[Stream], bounds: Bounds) -> Stream:
    unbounded = isinstance(stream.window, TimeWindow) and stream.window.unbounded
    if stream.window is not None and not unbounded:
        return stream
    others = [other for other in streams if other is not stream]
    oldest = max(bounds.get((other.name, stream.name), _ENDLESS) for other in others)
    if oldest >= _ENDLESS and not (unbounded or stream.ends or all(other.ends for other in others)):
        return stream
    return replace(stream, window=TimeWindow(min(max(0, oldest), UNBOUNDED_US)))


def check_times(streams: Sequence[Stream], predicates: Iterable[Predicate]) -> None:
    """QueryError if no times meet the conditions on them."""
    bounds = _bounds(streams, predicates)
    if not bounds:
        return
    names = [stream.name for stream in streams]
    _close(bounds, names)
    empty = next((name for name in names if bounds.get((name, name), 0) < 0), None)
    if empty is not None:
        raise QueryError(
            f"no times meet the conditions on the time of '{empty}' and the others: an interval is empty. Are its ends "
            "in the wrong order, as in BETWEEN A.ts + INTERVAL '10' MINUTE AND A.ts + INTERVAL '5' MINUTE?"
        )


def _bounds(streams: Sequence[Stream], predicates: Iterable[Predicate]) -> Bounds:
    """From conditions between the time columns of two streams."""
    times = {(stream.name, stream.time): stream.name for stream in streams}
    bounds: Bounds = {}
    for predicate in predicates:
        if isinstance(predicate, Band | Equality):
            (left, one), (right, other) = (_time_of(side, times) for side in (predicate.left, predicate.right))
            if left is not None and right is not None and one == other and not (one and isinstance(predicate, Band)):
                low, high = (-one, one) if isinstance(predicate, Equality) else _ends(predicate)
                _tighten(bounds, left, right, high)
                _tighten(bounds, right, left, -low)
    return bounds


def _time_of(side: Expression, times: dict[tuple[str, str], str]) -> tuple[str | None, int]:
    """The stream whose time a side is, and by how much times may differ that are alike there: those of one period."""
    while isinstance(side, Call) and side.function in ("epoch_us", "cast"):
        (side,) = side.arguments
    within = 0
    if isinstance(side, Call) and side.function == "date_trunc":
        unit, moment = side.arguments
        zoned = next((column.type.tz for column in columns_of(moment) if pa.types.is_timestamp(column.type)), None)
        assert isinstance(unit, Literal), "the unit is a word"
        within, side = PERIODS_US[unit.value] - 1 + (_CLOCKS_BACK_US if zoned not in (None, "UTC") else 0), moment
    return times.get(column_of(side) or ("", "")), within


def _ends(band: Band) -> tuple[int, int]:
    """Whole microseconds, both ends included."""
    low = -_ENDLESS if band.low is None else int(band.low) + band.low_strict
    return low, _ENDLESS if band.high is None else int(band.high) - band.high_strict


def _tighten(bounds: Bounds, one: str, other: str, most: int) -> None:
    if one != other and most < _ENDLESS:
        bounds[one, other] = min(most, bounds.get((one, other), _ENDLESS))


def _close(bounds: Bounds, names: Sequence[str]) -> None:
    """What follows from two bounds for a third pair; a stream that must differ from itself shows a contradiction."""
    for middle in names:
        for one in names:
            for other in names:
                first, second = bounds.get((one, middle)), bounds.get((middle, other))
                if first is not None and second is not None:
                    known = bounds.get((one, other), 0 if one == other else _ENDLESS)
                    bounds[one, other] = min(known, first + second)


def column_of(expression: Expression) -> tuple[str, str] | None:
    """The column that an expression is, made comparable or not."""
    while isinstance(expression, Call) and expression.function in ("epoch_us", "cast"):
        (expression,) = expression.arguments
    return (expression.stream, expression.name) if isinstance(expression, Column) else None


def outlasting(streams: Sequence[Stream], predicates: Sequence[Predicate]) -> frozenset[str]:
    """The streams whose rows stay at least as long as the first one's, in every combination of those up to them.

    Then the first finds whatever lacks a partner. Payments that come after their order, in a window as long, need not.
    """
    names, first = [stream.name for stream in streams], streams[0]
    lengths = [each.window.length_us for each in streams if isinstance(each.window, TimeWindow)]
    found = set[str]()
    for at, stream in enumerate(streams[1:], 2):
        own = [predicate for predicate in predicates if step_of(predicate, names) in names[:at]]
        bounds = time_bounds(streams[:at], own)
        if bounds.get((first.name, stream.name), UNBOUNDED_US) <= lengths[at - 1] - lengths[0]:
            found.add(stream.name)
    return frozenset(found)
