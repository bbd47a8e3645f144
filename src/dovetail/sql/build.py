"""Typed nodes: constants are computed at once, and both sides of an operation are brought to one type.

T.value + (2 * 3)          ->   add(T.value, 6)
T.small = H.large          ->   eq(cast(T.small as int64), H.large)
T.ts > '2026-01-01'        ->   gt(T.ts, that timestamp)
T.location = H.value       ->   cannot compare T.location (string) with H.value (double) in "..."
"""

from datetime import date
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from dovetail.engine.evaluate import evaluate
from dovetail.errors import DataError, QueryError
from dovetail.model.expression import Call, Expression, Literal
from dovetail.sql.dialect import sql_text
from dovetail.sql.literal import in_zone, time_literal
from dovetail.sql.term import Term, describe
from dovetail.sql.types import common_type, is_instant, is_text

BOOLEAN = pa.bool_()


def call(function: str, arguments: tuple[Expression, ...], type: pa.DataType) -> Expression:
    """A call, or its value if every argument is constant."""
    made = Call(function, arguments, type)
    if not all(isinstance(argument, Literal) for argument in arguments):
        return made
    try:
        return Literal(evaluate(made, {}, 1)[0].as_py(), type)
    except (DataError, pa.ArrowException, ValueError, OverflowError):
        return made


def coerce(expression: Expression, type: pa.DataType) -> Expression:
    """The expression in another type; a constant is converted here and now."""
    if expression.type == type:
        return expression
    if not isinstance(expression, Literal):
        return Call("cast", (expression,), type)
    value = expression.value
    if value is None:
        return Literal(None, type)
    if isinstance(value, date) and pa.types.is_timestamp(type):
        return Literal(in_zone(value, type), type)
    if isinstance(value, int) and pa.types.is_decimal(type):
        fits = abs(value) < 10 ** (type.precision - type.scale)
        return Literal(Decimal(value) if fits else None, type)
    return call("cast", (expression,), type)


def meet(left: Term, right: Term) -> tuple[Expression, Expression] | None:
    """Both sides in their common type; None if they have none."""
    a, b = beside(left, right.expression.type), beside(right, left.expression.type)
    type = _common(a, b)
    return None if type is None else (coerce(a, type), coerce(b, type))


def beside(term: Term, other: pa.DataType) -> Expression:
    """A text constant next to a date or timestamp is one itself."""
    expression = term.expression
    if not (isinstance(expression, Literal) and isinstance(expression.value, str) and is_instant(other)):
        return expression
    try:
        return time_literal(expression.value, other)
    except (ValueError, OverflowError):
        example = "write it like '2026-01-31' or '2026-01-31 12:30:00'"
        raise QueryError(f"{term.text} stands beside a {other} but is not a time; {example}") from None


def _common(left: Expression, right: Expression) -> pa.DataType | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Literal) and _fits(one.value, other.type):
            return other.type
    return common_type(left.type, right.type)


def _fits(value: object, type: pa.DataType) -> bool:
    """Whether a constant can take the other side's type, so that a column need not be cast."""
    if isinstance(value, str):
        return is_text(type)
    if isinstance(value, bool) or not isinstance(value, int) or not pa.types.is_integer(type):
        return False
    signed = pa.types.is_signed_integer(type)
    low, high = (-(2 ** (type.bit_width - 1)), 2 ** (type.bit_width - 1)) if signed else (0, 2**type.bit_width)
    return bool(low <= value < high)


def compare(function: str, left: Term, right: Term, node: exp.Expr) -> Expression:
    """One of eq, ne, lt, le, gt, ge."""
    sides = meet(left, right)
    if sides is None or pa.types.is_nested(sides[0].type):
        raise QueryError(f'cannot compare {describe(left)} with {describe(right)} in "{sql_text(node)}"')
    if pa.types.is_null(sides[0].type):
        return Literal(None, BOOLEAN)
    if pa.types.is_duration(sides[0].type):
        sides = (microseconds(sides[0]), microseconds(sides[1]))
    return call(function, sides, BOOLEAN)


def microseconds(expression: Expression) -> Expression:
    """A date, timestamp or duration as int64 microseconds; what was made from microseconds is unwrapped."""
    if isinstance(expression, Call) and expression.function == "cast" and expression.arguments[0].type == pa.int64():
        return expression.arguments[0]
    return call("epoch_us", (expression,), pa.int64())


def condition(term: Term, place: str) -> Expression:
    """The term as a boolean; QueryError says what it is instead."""
    if pa.types.is_null(term.expression.type):
        return Literal(None, BOOLEAN)
    if not pa.types.is_boolean(term.expression.type):
        raise QueryError(f"{place} must be true or false, but {term.text} is {term.expression.type}")
    return term.expression


def unify(terms: list[Term], node: exp.Expr) -> list[Expression]:
    """All terms in one type, as the branches of a CASE need."""
    result = terms[0]
    for term in terms[1:]:
        sides = meet(result, term)
        if sides is None and result.expression.type != term.expression.type:
            raise QueryError(f'{describe(result)} and {describe(term)} have no common type in "{sql_text(node)}"')
        result = result._replace(expression=sides[0]) if sides else result
    type = result.expression.type
    return [coerce(beside(term, type), type) for term in terms]
