"""Arithmetic and its types: integers stay int64, ``/`` is true division, times and intervals add and subtract.

    T.count + 1                    int64        (wraps around, as Arrow's unchecked arithmetic does)
    T.count / 2                    double       (NULL where the divisor is zero)
    A.ts - B.ts                    duration     made from int64 microseconds, so that it can become a band
    A.ts + INTERVAL '5' SECOND     timestamp[us]

Decimals, and uint64 as decimals, are exact for as long as their digits suffice.
"""

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.expression import Expression
from dovetail.sql.build import beside, call, coerce, microseconds
from dovetail.sql.dialect import sql_text
from dovetail.sql.literal import DURATION
from dovetail.sql.term import Term, describe
from dovetail.sql.types import as_decimal, is_instant, is_number

_WORDS = {"modulo": "take the rest of"}


def arithmetic(function: str, left: Term, right: Term, node: exp.Expr) -> Expression:
    """One of add, subtract, multiply, divide, modulo."""
    left = left._replace(expression=beside(left, right.expression.type))
    right = right._replace(expression=beside(right, left.expression.type))
    a, b = _nulls_typed(left.expression, right.expression)
    if is_number(a.type) and is_number(b.type):
        return _numbers(function, a, b)
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


def _numbers(function: str, a: Expression, b: Expression) -> Expression:
    type = pa.float64() if function == "divide" else operand_type(a.type, b.type)
    if not pa.types.is_decimal(type):
        return call(function, (coerce(a, type), coerce(b, type)), type)
    a, b = (coerce(side, as_decimal(side.type)) for side in (a, b))
    result = None if function == "modulo" else _decimal_result(function, a.type, b.type)
    if result is None:
        return call(function, (coerce(a, pa.float64()), coerce(b, pa.float64())), pa.float64())
    return call(function, (a, b), result)


def operand_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The type in which numbers are computed; uint64 goes through decimals, which do not wrap."""
    if pa.types.is_floating(a) or pa.types.is_floating(b):
        return pa.float64()
    if pa.types.is_decimal(a) or pa.types.is_decimal(b) or pa.uint64() in (a, b):
        return pa.decimal128(38, 0)
    return pa.int64()


def _decimal_result(function: str, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Arrow's own result type; None if it has too many digits."""
    try:
        return pc.call_function(function, [pa.nulls(0, a), pa.nulls(0, b)]).type
    except pa.ArrowException:
        return None


def _times(function: str, a: Expression, b: Expression) -> Expression | None:
    spans = pa.types.is_duration(a.type), pa.types.is_duration(b.type)
    if function in ("add", "subtract") and all(spans):
        return _duration(function, microseconds(a), microseconds(b))
    if function in ("add", "subtract") and is_instant(a.type) and spans[1]:
        return _instant(function, a, b)
    if function == "add" and spans[0] and is_instant(b.type):
        return _instant(function, b, a)
    if function == "subtract" and is_instant(a.type) and is_instant(b.type):
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
