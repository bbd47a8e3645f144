"""Bound expressions and predicates over single rows, in plain Python.

It shares no code with the engine's evaluation over columns, so that the two can check each other.
A row is a mapping from stream name to the values of that stream's tuple; a stream that is absent
(the empty side of an outer join) reads as NULL everywhere. Logic is three-valued: None is "unknown".
Arithmetic that overflows the type of its result gives NULL.

    >>> import pyarrow as pa
    >>> from dovetail.model.expression import Call, Column, Literal
    >>> value = Column("T", "value", pa.int64())
    >>> hot = Call("gt", (value, Literal(40, pa.int64())), pa.bool_())
    >>> [interpret(hot, {"T": {"value": v}}) for v in (41, 40, None)]
    [True, False, None]
"""

import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.model.expression import Call, Column, Expression, Literal
from dovetail.model.predicate import Band, Equality, Predicate, Residual, Similarity
from dovetail.model.zone import zone
from dovetail.testing.functions import SCALAR

Row = Mapping[str, Mapping[str, Any]]
_ENOUGH_DIGITS = 200  # more than any step over decimals of 76 digits makes, so that nothing is rounded on the way


def holds(predicate: Predicate, row: Row) -> bool:
    """Whether a conjunct is true; unknown is not true."""
    if isinstance(predicate, Residual):
        return interpret(predicate.expression, row) is True
    left, right = interpret(predicate.left, row), interpret(predicate.right, row)
    if left is None or right is None:
        return False
    if isinstance(predicate, Equality):
        return bool(left == right)
    if isinstance(predicate, Band):
        return _in_band(predicate, left, right)
    return _similar(predicate, left, right)


def _in_band(band: Band, left: Any, right: Any) -> bool:
    one_sided = band.low is None or band.high is None
    if one_sided and not band.low and not band.high:
        # A plain comparison, made without subtracting: inf <= inf holds though inf - inf is NaN.
        above = band.low is None or left > right or (left == right and not band.low_strict)
        below = band.high is None or left < right or (left == right and not band.high_strict)
    elif band.moved:
        above = band.low is None or (left > right + band.low if band.low_strict else left >= right + band.low)
        below = band.high is None or (left < right + band.high if band.high_strict else left <= right + band.high)
    else:
        gap = left - right
        above = band.low is None or gap > band.low or (gap == band.low and not band.low_strict)
        below = band.high is None or gap < band.high or (gap == band.high and not band.high_strict)
    return above and below and left == left and right == right


def _similar(predicate: Similarity, left: Any, right: Any) -> bool:
    score = SCALAR[predicate.measure](left, right)
    if score is None:
        return False
    return bool(score > predicate.threshold if predicate.strict else score >= predicate.threshold)


def interpret(expression: Expression, row: Row) -> Any:
    """The value of an expression for one row, as a Python value; None is NULL."""
    if isinstance(expression, Column):
        return inside(row[expression.stream], expression.name) if expression.stream in row else None
    if isinstance(expression, Literal):
        return expression.value
    return _shaped(_call(expression, row), expression.type)


def inside(values: Mapping[str, Any] | None, name: str) -> Any:
    """The value of a column; "p.id" is field id of the structure p, and NULL if that is."""
    if values is None or name in values:
        return None if values is None else values[name]
    first = next((first for first in values if name.startswith(f"{first}.")), None)
    return None if first is None else inside(values[first], name[len(first) + 1 :])


def _call(call: Call, row: Row) -> Any:
    if call.function in _LAZY:
        return _LAZY[call.function](call, row)
    values = [interpret(argument, row) for argument in call.arguments]
    if call.function == "user":
        return _call_user(call, values)
    if call.function == "cast":
        return _cast(values[0], call.arguments[0].type, call.type)
    if None in values:
        return None
    with localcontext(prec=_ENOUGH_DIGITS):
        return SCALAR[call.function](*values)


def _shaped(value: Any, type_: pa.DataType) -> Any:
    """A value as a column of its type holds it: single precision stays single, what is too large for it is NULL."""
    if value is None:
        return None
    if pa.types.is_float32(type_):
        return float(np.float32(value))
    if pa.types.is_integer(type_):
        bits = type_.bit_width
        low = -(1 << (bits - 1)) if pa.types.is_signed_integer(type_) else 0
        return value if low <= value < low + (1 << bits) else None
    if pa.types.is_decimal(type_):
        return _decimal(value, type_)
    return value


def _on_clock(value: date, target: pa.DataType) -> datetime:
    """A day or time as one of a type: without a zone it is read off the clocks of the zone it gets, and the reverse."""
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if target.tz is None:
        return moment.replace(tzinfo=None)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone(target.tz))


def _decimal(value: Any, type_: pa.DataType) -> Decimal | None:
    """To the digits of the type, halves away from zero; NULL if there are more before the point than it has."""
    with localcontext(prec=_ENOUGH_DIGITS):
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP)
        return rounded if abs(rounded.scaleb(type_.scale)) < 10**type_.precision else None


def _and(call: Call, row: Row) -> bool | None:
    values = [interpret(argument, row) for argument in call.arguments]
    return False if False in values else None if None in values else True


def _or(call: Call, row: Row) -> bool | None:
    values = [interpret(argument, row) for argument in call.arguments]
    return True if True in values else None if None in values else False


def _is_null(call: Call, row: Row) -> bool:
    return interpret(call.arguments[0], row) is None


def _coalesce(call: Call, row: Row) -> Any:
    values = (interpret(argument, row) for argument in call.arguments)
    return next((value for value in values if value is not None), None)


def _case(call: Call, row: Row) -> Any:
    """case(condition, value, condition, value, ..., otherwise)"""
    for condition, value in zip(call.arguments[0::2], call.arguments[1::2], strict=False):
        if interpret(condition, row) is True:
            return interpret(value, row)
    return interpret(call.arguments[-1], row) if len(call.arguments) % 2 else None


def _in(call: Call, row: Row) -> bool | None:
    value, *choices = (interpret(argument, row) for argument in call.arguments)
    if value is None:
        return None
    if any(choice is not None and value == choice for choice in choices):
        return True
    return None if None in choices else False


def _extreme(call: Call, row: Row) -> Any:
    """NULL is passed over if there is anything else, and so is NaN if there is a number."""
    known = [value for value in (interpret(argument, row) for argument in call.arguments) if value is not None]
    numbers = [value for value in known if value == value] or known
    choose = max if call.function == "greatest" else min
    return choose(numbers, default=None)


def _nullif(call: Call, row: Row) -> Any:
    value, other = (interpret(argument, row) for argument in call.arguments)
    return None if value is not None and other is not None and value == other else value


_LAZY = {
    "and": _and,
    "or": _or,
    "is_null": _is_null,
    "coalesce": _coalesce,
    "case": _case,
    "in": _in,
    "greatest": _extreme,
    "least": _extreme,
    "nullif": _nullif,
}


def _call_user(call: Call, values: list[Any]) -> Any:
    """A user's function sees columns of one row."""
    assert call.user is not None
    arrays = [pa.array([value], type_) for value, type_ in zip(values, call.user.arguments, strict=True)]
    result = call.user.callable(*arrays)[0]
    return result.as_py() if isinstance(result, pa.Scalar) else result.item() if hasattr(result, "item") else result


def _cast(value: Any, source: pa.DataType, target: pa.DataType) -> Any:
    """A value of another type; NULL where that type has no such value."""
    if value is None:
        return None
    if pa.types.is_floating(target) and isinstance(value, int):
        return float(value)
    if pa.types.is_decimal(target) and isinstance(value, int | Decimal):
        return _decimal(value, target)
    if pa.types.is_timestamp(target) and isinstance(value, date):
        return _on_clock(value, target)
    try:
        if pa.types.is_integer(target) and isinstance(value, float | Decimal):
            return pa.scalar(math.trunc(value), target).as_py()
        return pa.scalar(value, source).cast(target).as_py()
    except (pa.ArrowInvalid, OverflowError, ValueError):
        return None
