"""Casts that never fail half-way: a value that has no counterpart in the new type becomes NULL.

    cast(["7", "seven"] as int64)   ->   [7, null]
    cast([2.9, 1e300] as int64)     ->   [2, null]

The whole column is cast at once; ``attempt`` says what happens if that fails.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.evaluate.attempt import null_where_invalid
from dovetail.engine.evaluate.decimals import rounded_to, truncated
from dovetail.errors import DataError
from dovetail.model.expression import Call, Literal


def cast_to(call: Call) -> Callable[[Any], Any]:
    """The cast as a function of its argument."""
    source, target = call.arguments[0].type, call.type
    if source == target:
        return lambda value: value
    if pa.types.is_timestamp(target) and (pa.types.is_timestamp(source) or pa.types.is_date(source)):
        if _zone(source) is None and target.tz not in (None, "UTC"):
            return _into_zone(call)
        if target.tz is None and _zone(source) not in (None, "UTC"):
            return _out_of_zone(call)
    if _rounds(source, target):
        return lambda value: value.cast(target, safe=False)
    if pa.types.is_decimal(source) and pa.types.is_decimal(target) and source.scale > target.scale:
        return rounded_to(target)
    prepare = _preparation(source, target)
    return lambda value: _cast(value, lambda values: prepare(values).cast(target), target, call)


def _zone(type_: pa.DataType) -> str | None:
    return type_.tz if pa.types.is_timestamp(type_) else None


def _into_zone(call: Call) -> Callable[[Any], Any]:
    """A time without a zone is read off the clocks of the zone it gets; of an hour shown twice it is the first."""
    target = call.type
    to_clock = cast_to(Call("cast", call.arguments, pa.timestamp(target.unit)))
    return lambda value: pc.assume_timezone(to_clock(value), target.tz, ambiguous="earliest", nonexistent="latest")


def _out_of_zone(call: Call) -> Callable[[Any], Any]:
    """A time that loses its zone is what the clocks there showed."""
    clock = Literal(None, pa.timestamp(call.arguments[0].type.unit))
    to_unit = cast_to(Call("cast", (clock,), call.type))
    return lambda value: to_unit(pc.local_timestamp(value))


def _rounds(source: pa.DataType, target: pa.DataType) -> bool:
    """Casts that may lose digits and never fail: integers to floats, times to a coarser unit, times to dates."""
    if pa.types.is_integer(source) and pa.types.is_floating(target):
        return True
    if not pa.types.is_timestamp(source):
        return False
    return pa.types.is_date(target) or (pa.types.is_timestamp(target) and _is_coarser(target, source))


def _preparation(source: pa.DataType, target: pa.DataType) -> Callable[[Any], Any]:
    """What brings values into a form from which Arrow's cast goes on, keeping SQL's meaning."""
    if pa.types.is_integer(target) and pa.types.is_floating(source):
        return lambda value: pc.trunc(value)
    if pa.types.is_integer(target) and pa.types.is_decimal(source):
        return truncated
    if pa.types.is_decimal(target) and pa.types.is_integer(source):
        return lambda value: value.cast(_wide_decimal(target.scale))
    if pa.types.is_timestamp(target) and target.tz and (pa.types.is_string(source) or pa.types.is_large_string(source)):
        return _with_offset
    return lambda value: value


def _wide_decimal(scale: int) -> pa.DataType:
    """A decimal that holds any integer, with that many digits after the point."""
    return pa.decimal128(20 + scale, scale) if scale <= 18 else pa.decimal256(20 + scale, scale)


def _is_coarser(target: pa.DataType, source: pa.DataType) -> bool:
    units = ("ns", "us", "ms", "s")
    return units.index(target.unit) > units.index(source.unit)


def _with_offset(text: Any) -> Any:
    """Times without an offset are UTC; Arrow wants to see that in the text."""
    text = text.cast(pa.string())
    has_time = pc.match_substring(text, ":")
    has_offset = pc.match_substring_regex(text, r"(Z|[+-]\d\d(:?\d\d)?)$")
    suffix = pc.if_else(has_time, "Z", " 00:00:00Z")
    suffix = pc.if_else(pc.and_(has_time, has_offset), "", suffix)
    return pc.binary_join_element_wise(text, suffix, "")


def _cast(value: Any, convert: Callable[[Any], Any], target: pa.DataType, call: Call) -> Any:
    try:
        if not isinstance(value, pa.Scalar):
            return null_where_invalid(convert, value, target)
        return convert(value) if value.is_valid else pa.scalar(None, target)
    except pa.ArrowInvalid:
        return pa.scalar(None, target)
    except pa.ArrowNotImplementedError as error:
        raise DataError(f"{call}: {error}") from error
