"""Comparisons between two streams as bands ``low <= left - right <= high``.

Integers and times are moved freely: both sides are taken apart into terms of one stream each and a constant.

    A.x BETWEEN B.x - 5 AND B.x + 5      ->   -5 <= A.x - B.x,  A.x - B.x <= 5   ->   one band
    A.ts - B.ts <= INTERVAL '5' SECOND   ->   epoch_us(A.ts) - epoch_us(B.ts) <= 5000000

Floats are not moved, because a - b <= e and a <= b + e round differently: ``a - b <= e`` and ``ABS(a - b) <= e`` are
bands as written, and ``a <= b + e`` is a band whose bound is added to ``b``, which is then its right side.
Otherwise the left side is of the stream that comes first in the query.
"""

from dataclasses import replace
from math import ceil, floor

import pyarrow as pa

from dovetail.model.expression import Call, Expression, Literal, streams_of
from dovetail.model.predicate import Band, Predicate
from dovetail.sql.build import call, coerce, microseconds
from dovetail.sql.types import is_instant

Terms = list[tuple[int, Expression]]
_INT, _FLOAT = pa.int64(), pa.float64()
_MIRROR = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq"}
_EXACT_FLOAT = 2**53  # whole numbers up to it are exact doubles
_NEAR = 1e290  # no finite double overflows by adding less


def as_band(conjunct: Call, order: tuple[str, ...]) -> Band | None:
    """The band that a comparison over two streams is, if it is one."""
    if conjunct.function not in _MIRROR:
        return None
    function, (left, right) = conjunct.function, conjunct.arguments
    if isinstance(left, Literal):
        function, left, right = _MIRROR[function], right, left
    if is_instant(left.type):
        left, right = _as_integer(left), _as_integer(right)
    left, right, function = _whole(left, right, function)
    if isinstance(right, Literal) and right.value is None:
        return None
    if pa.types.is_integer(left.type) and left.type != pa.uint64():
        return _integer_band(function, left, right, order)
    return _float_band(function, left, right, order) if pa.types.is_floating(left.type) else None


def _as_integer(side: Expression) -> Expression:
    """A time as an integer of its own unit (a date: its days); both sides have one type already."""
    if pa.types.is_date(side.type):
        return coerce(call("cast", (side,), pa.int32()), _INT)
    return microseconds(side) if side.type.unit == "us" else call("cast", (side,), _INT)


def _whole(left: Expression, right: Expression, function: str) -> tuple[Expression, Expression, str]:
    """An integer compared with a float constant is compared with the integer next to it: x <= 1.5 is x <= 1."""
    inner = left.arguments[0] if isinstance(left, Call) and left.function == "cast" else None
    if inner is None or not isinstance(right, Literal) or left.type != _FLOAT or inner.type != _INT:
        return left, right, function
    bound = right.value
    if bound is None or not abs(bound) < _EXACT_FLOAT or (function == "eq" and bound != int(bound)):
        return left, right, function
    if bound == int(bound):
        return inner, Literal(int(bound), _INT), function
    upper = function in ("lt", "le")
    return inner, Literal(floor(bound) if upper else ceil(bound), _INT), "le" if upper else "ge"


def _integer_band(function: str, left: Expression, right: Expression, order: tuple[str, ...]) -> Band | None:
    if isinstance(left, Call) and left.function == "abs" and isinstance(right, Literal):
        return _absolute(function, left.arguments[0], right.value, order)
    terms: Terms = []
    constant = _collect(left, 1, terms) + _collect(right, -1, terms)
    return _from_terms(function, terms, -constant, order)


def _absolute(function: str, inner: Expression, bound: int, order: tuple[str, ...]) -> Band | None:
    if function not in ("lt", "le") or bound < 0:
        return None
    low = _integer_band("gt" if function == "lt" else "ge", inner, Literal(-bound, _INT), order)
    high = _integer_band(function, inner, Literal(bound, _INT), order)
    return merge_pair(low, high) if low and high else None


def _collect(side: Expression, sign: int, terms: Terms) -> int:
    """Take a sum apart into signed terms; the constants are added up and returned."""
    if isinstance(side, Literal):
        return sign * int(side.value)
    if isinstance(side, Call) and len(streams_of(side)) and side.type == _INT:
        if side.function in ("add", "subtract"):
            second = sign if side.function == "add" else -sign
            return _collect(side.arguments[0], sign, terms) + _collect(side.arguments[1], second, terms)
        if side.function == "negate":
            return _collect(side.arguments[0], -sign, terms)
    terms.append((sign, side))
    return 0


def _from_terms(function: str, terms: Terms, bound: int, order: tuple[str, ...]) -> Band | None:
    """``sum of terms  function  bound``, if every term is of one stream."""
    if any(len(streams_of(term)) != 1 for _, term in terms):
        return None
    first, second = sorted({name for _, term in terms for name in streams_of(term)}, key=order.index)
    sides = [[(sign, term) for sign, term in terms if name in streams_of(term)] for name in (first, second)]
    if sides[0][0][0] < 0:
        function, bound = _MIRROR[function], -bound
        sides = [[(-sign, term) for sign, term in side] for side in sides]
    left, right = _sum(sides[0]), _sum([(-sign, term) for sign, term in sides[1]])
    if not -(2**63) <= bound < 2**63:
        return None
    return bounded(left, right, function, bound)


def _sum(terms: Terms) -> Expression:
    ordered = sorted(terms, key=lambda term: -term[0])
    sign, term = ordered[0]
    total = coerce(term, _INT) if sign > 0 else call("negate", (coerce(term, _INT),), _INT)
    for sign, term in ordered[1:]:
        total = call("add" if sign > 0 else "subtract", (total, coerce(term, _INT)), _INT)
    return total


def _float_band(function: str, left: Expression, right: Expression, order: tuple[str, ...]) -> Band | None:
    if function == "eq":
        return None
    if not isinstance(right, Literal):
        return _plain(function, left, right, order) if _one_each((left, right)) else None
    absolute = isinstance(left, Call) and left.function == "abs"
    difference = left.arguments[0] if absolute and isinstance(left, Call) else left
    if not isinstance(difference, Call) or difference.function != "subtract" or not _one_each(difference.arguments):
        return None
    if absolute and (function not in ("lt", "le") or not right.value >= 0):
        return None
    first, second = difference.arguments
    band = _oriented(function, first, second, right.value, order)
    return _both_ways(band) if absolute else band


def _both_ways(band: Band) -> Band:
    """The band of the absolute value."""
    if band.high is not None:
        return replace(band, low=-band.high, low_strict=band.high_strict)
    assert band.low is not None
    return replace(band, high=-band.low, high_strict=band.low_strict)


def _plain(function: str, left: Expression, right: Expression, order: tuple[str, ...]) -> Band:
    for way, one, other in ((function, left, right), (_MIRROR[function], right, left)):
        if (found := _moved(other)) is not None:
            return replace(bounded(coerce(one, _FLOAT), found[0], way, found[1]), moved=True)
    return _oriented(function, left, right, 0.0, order)


def _moved(side: Expression) -> tuple[Expression, float] | None:
    """What a sum of floats adds a constant to, and the constant."""
    if not isinstance(side, Call) or side.function not in ("add", "subtract") or side.type != _FLOAT:
        return None
    first, second = side.arguments
    if side.function == "add" and isinstance(first, Literal):
        first, second = second, first
    if not isinstance(second, Literal) or second.value is None or not abs(second.value) < _NEAR:
        return None
    return first, second.value if side.function == "add" else 0.0 - second.value


def _one_each(sides: tuple[Expression, ...]) -> bool:
    return all(len(streams_of(side)) == 1 for side in sides) and streams_of(sides[0]) != streams_of(sides[1])


def _oriented(function: str, left: Expression, right: Expression, bound: float, order: tuple[str, ...]) -> Band:
    (first,), (second,) = streams_of(left), streams_of(right)
    if order.index(first) > order.index(second):
        left, right, function, bound = right, left, _MIRROR[function], 0.0 - bound
    return bounded(coerce(left, _FLOAT), coerce(right, _FLOAT), function, bound)


def bounded(left: Expression, right: Expression, function: str, bound: float) -> Band:
    """``left - right  function  bound`` as a band."""
    strict = function in ("lt", "gt")
    if function == "eq":
        return Band(left, right, bound, bound)
    if function in ("lt", "le"):
        return Band(left, right, None, bound, high_strict=strict)
    return Band(left, right, bound, None, low_strict=strict)


def merge_bands(predicates: list[Predicate]) -> list[Predicate]:
    """Bands over the same two sides become one, in the place of the first."""
    merged: list[Predicate] = []
    places: dict[tuple[Expression, Expression, bool], int] = {}
    moved = {(band.left, band.right) for band in predicates if isinstance(band, Band) and band.moved}
    for predicate in (_beside(each, moved) if isinstance(each, Band) else each for each in predicates):
        at = len(merged)
        if isinstance(predicate, Band):
            at = places.setdefault((predicate.left, predicate.right, predicate.moved), at)
        if at == len(merged):
            merged.append(predicate)
        else:
            merged[at] = merge_pair(merged[at], predicate)  # type: ignore[arg-type]
    return merged


def _beside(band: Band, moved: set[tuple[Expression, Expression]]) -> Band:
    """A plain comparison as one that adds 0, if there are others between the same sides that add something."""
    if (band.low, band.high) not in ((0, None), (None, 0)):
        return band
    if (band.left, band.right) in moved:
        return replace(band, moved=True)
    if (band.right, band.left) in moved:
        return Band(band.right, band.left, band.high, band.low, band.high_strict, band.low_strict, moved=True)
    return band


def merge_pair(one: Band, other: Band) -> Band:
    """Both bands at once: the tighter bound on each side, the strict one of two equal bounds."""
    lows = [(band.low, band.low_strict) for band in (one, other) if band.low is not None]
    highs = [(band.high, not band.high_strict) for band in (one, other) if band.high is not None]
    low, low_strict = max(lows) if lows else (None, False)
    high, high_open = min(highs) if highs else (None, True)
    return replace(one, low=low, low_strict=low_strict, high=high, high_strict=not high_open)
