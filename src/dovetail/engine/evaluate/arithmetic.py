"""Arithmetic where SQL and Arrow differ: division by zero is NULL, remainders, rounding half away from zero.

    7 % -3   ->   1        the sign of the dividend, as in SQL
    7 / 0    ->   NULL

What overflows is NULL (``overflow``, ``decimals``). Everything else is Arrow's own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.evaluate.casts import cast_to
from dovetail.engine.evaluate.decimals import decimal_remainder
from dovetail.model.expression import Call, Literal


def typed(operation: Callable[[Any], Any]) -> Callable[[Call], Callable[[Any], Any]]:
    """An operation whose result is cast to the type the call was bound with, where Arrow's own differs."""

    def build(call: Call) -> Callable[[Any], Any]:
        target = call.type

        def run(value: Any) -> Any:
            result = operation(value)
            return result if result.type == target else result.cast(target)

        return run

    return build


def _divisor(call: Call) -> Callable[[Any], Any]:
    """The divisor with its zeros made NULL; a constant that is not zero is left alone."""
    divisor = call.arguments[1]
    if isinstance(divisor, Literal) and divisor.value:
        return lambda value: value
    zero, nothing = pa.scalar(0, divisor.type), pa.scalar(None, divisor.type)
    return lambda value: pc.if_else(pc.equal(value, zero), nothing, value)


def divided(call: Call) -> Callable[[Any, Any], Any]:
    """True division of float64."""
    nonzero = _divisor(call)
    return lambda left, right: pc.divide(left, nonzero(right))


def remainder(call: Call) -> Callable[[Any, Any], Any]:
    """The remainder with the sign of the dividend."""
    if pa.types.is_decimal(call.type):
        return decimal_remainder(call)
    nonzero = _divisor(call)
    if pa.types.is_floating(call.type):
        return lambda left, right: _float_remainder(left, nonzero(right))
    one, minus_one = pa.scalar(1, call.type), pa.scalar(-1, pa.int64())

    def of_integers(left: Any, right: Any) -> Any:
        divisor = nonzero(right)
        if pa.types.is_signed_integer(divisor.type):  # the smallest integer divided by -1 overflows; by 1 it does not
            divisor = pc.if_else(pc.equal(divisor, minus_one), one, divisor)
        return pc.subtract(left, pc.multiply(pc.divide(left, divisor), divisor))

    return of_integers


def _float_remainder(left: Any, right: Any) -> Any:
    if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar):
        return _float_remainder(pa.array([left.as_py()], left.type), pa.array([right.as_py()], right.type))[0]
    with np.errstate(invalid="ignore"):
        result = pa.array(np.fmod(_numbers(left), _numbers(right)))
    known = pc.and_(pc.is_valid(left), pc.is_valid(right))
    return pc.if_else(known, result, pa.scalar(None, result.type))


def _numbers(value: Any) -> Any:
    if isinstance(value, pa.Scalar):
        return np.float64(np.nan) if value.as_py() is None else np.float64(value.as_py())
    return value.to_numpy(zero_copy_only=False)


def rounded(call: Call) -> Callable[..., Any]:
    """ROUND(x) and ROUND(x, constant)."""
    digits = call.arguments[1].value if len(call.arguments) > 1 else 0  # type: ignore[union-attr]
    options = pc.RoundOptions(digits, "half_towards_infinity")
    return lambda value, *_: pc.round(value, options=options)


def epoch_us(call: Call) -> Callable[[Any], Any]:
    """Microseconds since 1970 of a date or timestamp; microseconds of a duration; NULL where they need more bits."""
    source = call.arguments[0].type
    if pa.types.is_duration(source):
        micros = pa.duration("us")
    else:
        micros = pa.timestamp("us", tz=source.tz if pa.types.is_timestamp(source) else None)
    if not pa.types.is_date(source) and source.unit in ("us", "ns"):
        return lambda value: value.cast(micros, safe=False).cast(pa.int64())
    as_micros = cast_to(Call("cast", call.arguments, micros))
    return lambda value: as_micros(value).cast(pa.int64())
