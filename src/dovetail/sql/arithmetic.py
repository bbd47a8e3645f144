"""Arithmetic and its types: integers stay int64, ``/`` is true division, times and intervals add and subtract.

    T.count + 1                    int64        (NULL where it overflows)
    T.count / 2                    double       (NULL where the divisor is zero)
    A.ts - B.ts                    duration     made from int64 microseconds, so that it can become a band
    A.ts + INTERVAL '5' SECOND     timestamp[us]

Decimals, and uint64 as decimals, have the digits that the exact result needs, at most 38: beyond them the last ones
after the point are rounded away, down to 6 as in Spark, and a result that is still too large is NULL.
"""

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.expression import Expression
from dovetail.sql.build import beside, call, coerce, microseconds
from dovetail.sql.dialect import sql_text
from dovetail.sql.literal import DURATION
from dovetail.sql.term import Term, describe
from dovetail.sql.types import as_decimal, common_type, is_instant, is_number

_WORDS = {"modulo": "take the rest of"}
_DIGITS = 38  # of Spark's and DuckDB's widest decimal
_KEPT_SCALE = 6  # digits after the point that Spark keeps when a result has too many
_MOST_DIGITS = 76  # of Arrow's widest decimal, in which exact results are computed


def arithmetic(function: str, left: Term, right: Term, node: exp.Expr) -> Expression:
    """One of add, subtract, multiply, divide, modulo."""
    left = left._replace(expression=beside(left, right.expression.type))
    right = right._replace(expression=beside(right, left.expression.type))
    a, b = _nulls_typed(left.expression, right.expression)
    if is_number(a.type) and is_number(b.type):
        return _numbers(function, a, b, node)
    made = _times(function, a, b)
    if made is None:
        raise QueryError(
            f'cannot {_WORDS.get(function, function)} {describe(left)} and {describe(right)} in "{sql_text(node)}"'
        )
    return made


def _nulls_typed(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """A bare NULL takes the type of the other side."""
    if pa.types.is_null(left.type):
        left = coerce(left, pa.int64() if pa.types.is_null(right.type) else right.type)
    return left, coerce(right, left.type) if pa.types.is_null(right.type) else right


def _numbers(function: str, a: Expression, b: Expression, node: exp.Expr) -> Expression:
    type = pa.float64() if function == "divide" else operand_type(a.type, b.type)
    if not pa.types.is_decimal(type):
        return call(function, (coerce(a, type), coerce(b, type)), type)
    a, b = (coerce(side, as_decimal(side.type)) for side in (a, b))
    result = _decimal_result(function, a.type, b.type)
    if result is None:
        message = f'{a.type} and {b.type} have too many digits in "{sql_text(node)}"'
        raise QueryError(f"{message}; cast them to fewer, as in CAST(... AS DECIMAL(18, 2)), or to DOUBLE")
    return call(function, (a, b), result)


def operand_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The type in which numbers are computed; uint64 goes through decimals, which do not wrap."""
    if pa.types.is_floating(a) or pa.types.is_floating(b):
        return pa.float64()
    if pa.types.is_decimal(a) or pa.types.is_decimal(b) or pa.uint64() in (a, b):
        return pa.decimal128(38, 0)
    return pa.int64()


def _decimal_result(function: str, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The digits of an exact result, cut to 38 as Spark does it; None if not even Arrow's widest decimal has them."""
    whole, scale = max(a.precision - a.scale, b.precision - b.scale) + 1, max(a.scale, b.scale)
    if function == "modulo":
        whole = min(a.precision - a.scale, b.precision - b.scale)
    if function == "multiply":
        whole, scale = a.precision + b.precision + 1 - a.scale - b.scale, a.scale + b.scale
    if pa.types.is_decimal256(a) or pa.types.is_decimal256(b):
        fits = function != "modulo" and whole + scale <= _MOST_DIGITS
        return pa.decimal256(whole + scale, scale) if fits else None
    if function != "multiply" and whole + scale > _MOST_DIGITS:
        return None
    if whole + scale > _DIGITS:
        scale = max(_DIGITS - whole, min(scale, _KEPT_SCALE))
        return pa.decimal128(_DIGITS, scale)
    return pa.decimal128(max(whole + scale, 1), scale)


def _times(function: str, a: Expression, b: Expression) -> Expression | None:
    spans = pa.types.is_duration(a.type), pa.types.is_duration(b.type)
    if function in ("add", "subtract") and all(spans):
        return _duration(function, microseconds(a), microseconds(b))
    if function in ("add", "subtract") and is_instant(a.type) and spans[1]:
        return _instant(function, a, b)
    if function == "add" and spans[0] and is_instant(b.type):
        return _instant(function, b, a)
    if function == "subtract" and is_instant(a.type) and is_instant(b.type):
        common = common_type(a.type, b.type)
        if getattr(common, "tz", None) not in (None, "UTC"):
            a, b = coerce(a, common), coerce(b, common)
        return _duration(function, microseconds(a), microseconds(b))
    if function == "multiply" and spans[0] and pa.types.is_integer(b.type):
        return _duration(function, microseconds(a), coerce(b, pa.int64()))
    if function == "multiply" and spans[1] and pa.types.is_integer(a.type):
        return _duration(function, coerce(a, pa.int64()), microseconds(b))
    return None


def _duration(function: str, a: Expression, b: Expression) -> Expression:
    return coerce(call(function, (a, b), pa.int64()), DURATION)


def _instant(function: str, moment: Expression, span: Expression) -> Expression:
    zone = moment.type.tz if pa.types.is_timestamp(moment.type) else None
    moved = call(function, (microseconds(moment), microseconds(span)), pa.int64())
    return call("cast", (moved,), pa.timestamp("us", tz=zone))
