"""The functions of the language by name: how many arguments each takes, of which types, and what it gives.

ABS(T.value)        ->   abs(T.value), of the type of T.value (integers as int64)
SQRT(T.location)    ->   SQRT needs a number, but T.location is string in "SQRT(T.location)"
"""

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.duration import PERIODS_US
from dovetail.model.expression import Expression, Literal
from dovetail.sql.arithmetic import arithmetic, operand_type
from dovetail.sql.build import call, coerce, compare, microseconds, unify
from dovetail.sql.dialect import sql_text
from dovetail.sql.literal import DURATION
from dovetail.sql.term import Term
from dovetail.sql.types import is_instant, is_number, is_text, is_vector, vector_type

_INT, _FLOAT = pa.int64(), pa.float64()


class Function(NamedTuple):
    """How a call is bound: its smallest and largest number of arguments (None: no limit), and the rule."""

    least: int
    most: int | None
    bind: Callable[[str, list[Term], exp.Expr], Expression]


def needed(name: str, what: str, term: Term, node: exp.Expr) -> QueryError:
    """The message about an argument of the wrong type."""
    return QueryError(f'{name.upper()} needs {what}, but {term.text} is {term.expression.type} in "{sql_text(node)}"')


def number(name: str, term: Term, node: exp.Expr) -> Expression:
    """A number in the type it is computed in; a bare NULL is one too."""
    expression = term.expression
    if pa.types.is_null(expression.type):
        return coerce(expression, _INT)
    if not is_number(expression.type):
        raise needed(name, "a number", term, node)
    if pa.types.is_decimal(expression.type):
        return expression
    return coerce(expression, operand_type(expression.type, expression.type))


def text(name: str, term: Term, node: exp.Expr) -> Expression:
    """A text; a bare NULL is one too."""
    if pa.types.is_null(term.expression.type):
        return coerce(term.expression, pa.string())
    if not is_text(term.expression.type):
        raise needed(name, "a text", term, node)
    return term.expression


def constant(name: str, term: Term, node: exp.Expr) -> Literal:
    """A whole number that is written out."""
    value = term.expression.value if isinstance(term.expression, Literal) else None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**31:
        raise QueryError(f'{name.upper()} needs a whole number for {term.text} in "{sql_text(node)}"')
    return Literal(value, _INT)


def _absolute(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    """The size of a number or of an interval."""
    if pa.types.is_duration(terms[0].expression.type):
        return coerce(call("abs", (microseconds(terms[0].expression),), _INT), DURATION)
    value = number(name, terms[0], node)
    return call("abs", (value,), value.type)


def _same(function: str) -> Function:
    """A number to a number of the same type; integers are left alone by rounding."""

    def bind(name: str, terms: list[Term], node: exp.Expr) -> Expression:
        value = number(name, terms[0], node)
        value = coerce(value, _FLOAT) if pa.types.is_decimal(value.type) else value
        if function in ("floor", "ceil") and pa.types.is_integer(value.type):
            return value
        return call(function, (value,), value.type)

    return Function(1, 1, bind)


def _float(function: str, arguments: int = 1) -> Function:
    def bind(name: str, terms: list[Term], node: exp.Expr) -> Expression:
        values = tuple(coerce(number(name, term, node), _FLOAT) for term in terms)
        return call(function, values, _FLOAT)

    return Function(arguments, arguments, bind)


def _round(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    value = number(name, terms[0], node)
    digits = constant(name, terms[1], node) if len(terms) > 1 else Literal(0, _INT)
    if pa.types.is_integer(value.type) and digits.value >= 0:
        return value
    return call("round", (coerce(value, _FLOAT), digits), _FLOAT)


def _modulo(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    return arithmetic("modulo", terms[0], terms[1], node)


def _text(function: str) -> Function:
    def bind(name: str, terms: list[Term], node: exp.Expr) -> Expression:
        value = text(name, terms[0], node)
        return call(function, (value,), _INT if function == "length" else value.type)

    return Function(1, 1, bind)


def concat(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    """Texts one after the other; NULL if any is."""
    for term in terms:
        text(name, term, node)
    values = unify(terms, node)
    values = [coerce(value, pa.string()) if pa.types.is_null(value.type) else value for value in values]
    return call("concat", tuple(values), values[0].type)


def _substring(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    value = text(name, terms[0], node)
    return call("substring", (value, *(constant(name, term, node) for term in terms[1:])), value.type)


def _of_all(function: str) -> Function:
    """A choice among arguments of one type."""

    def bind(name: str, terms: list[Term], node: exp.Expr) -> Expression:
        values = unify(terms, node)
        if pa.types.is_null(values[0].type):
            return values[0]
        if function != "coalesce" and pa.types.is_nested(values[0].type):
            raise needed(name, "values that have an order", terms[0], node)
        return call(function, tuple(values), values[0].type)

    return Function(1, None, bind)


def _null_if(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    compare("eq", terms[0], terms[1], node)
    values = unify(terms, node)
    if pa.types.is_null(values[0].type):
        return values[0]
    return call("nullif", tuple(values), values[0].type)


def _of_time(function: str) -> Function:
    def bind(name: str, terms: list[Term], node: exp.Expr) -> Expression:
        moment = terms[0].expression
        if not is_instant(moment.type):
            raise needed(name, "a date or timestamp", terms[0], node)
        if pa.types.is_date(moment.type) and function in ("hour", "minute", "second"):
            moment = coerce(moment, pa.timestamp("us"))
        return call(function, (moment,), _INT)

    return Function(1, 1, bind)


def _truncated(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    """Of a time with a zone, by the clocks of that zone."""
    unit, moment = terms[0].expression, terms[1].expression
    if not isinstance(unit, Literal) or not isinstance(unit.value, str) or unit.value.lower() not in PERIODS_US:
        known = ", ".join(repr(word) for word in PERIODS_US)
        raise QueryError(f'{name.upper()} needs one of {known} first, not {terms[0].text} in "{sql_text(node)}"')
    if not is_instant(moment.type):
        raise needed(name, "a date or timestamp", terms[1], node)
    clock = coerce(moment, pa.timestamp("us"))
    begun = call("date_trunc", (Literal(unit.value.lower(), pa.string()), clock), clock.type)
    return coerce(begun, clock.type if pa.types.is_date(moment.type) else moment.type)


def _epoch(name: str, terms: list[Term], node: exp.Expr) -> Expression:
    moment = terms[0].expression
    if not is_instant(moment.type) and not pa.types.is_duration(moment.type):
        raise needed(name, "a date, timestamp or interval", terms[0], node)
    return microseconds(moment)


def _vectors(function: str) -> Function:
    def bind(name: str, terms: list[Term], node: exp.Expr) -> Expression:
        for term in terms:
            if not is_vector(term.expression.type):
                raise needed(name, "vectors (lists of numbers)", term, node)
        left, right = (coerce(term.expression, vector_type(term.expression.type)) for term in terms)
        sizes = [side.type.list_size for side in (left, right) if pa.types.is_fixed_size_list(side.type)]
        if len(set(sizes)) > 1:
            raise QueryError(f'{name.upper()} needs vectors of one length, but came {sizes} in "{sql_text(node)}"')
        return call(function, (left, right), _FLOAT)

    return Function(2, 2, bind)


_ALIASES = {"ceiling": "ceil", "pow": "power", "substr": "substring", "ifnull": "coalesce", "char_length": "length"}

BUILT_IN: dict[str, Function] = {
    "abs": Function(1, 1, _absolute),
    "sign": _same("sign"),
    "floor": _same("floor"),
    "ceil": _same("ceil"),
    "round": Function(1, 2, _round),
    "sqrt": _float("sqrt"),
    "exp": _float("exp"),
    "ln": _float("ln"),
    "power": _float("power", 2),
    "mod": Function(2, 2, _modulo),
    "lower": _text("lower"),
    "upper": _text("upper"),
    "length": _text("length"),
    "trim": _text("trim"),
    "concat": Function(1, None, concat),
    "substring": Function(2, 3, _substring),
    "coalesce": _of_all("coalesce"),
    "nullif": Function(2, 2, _null_if),
    "greatest": _of_all("greatest"),
    "least": _of_all("least"),
    **{part: _of_time(part) for part in ("year", "month", "day", "hour", "minute", "second")},
    "date_trunc": Function(2, 2, _truncated),
    "epoch_us": Function(1, 1, _epoch),
    "inner_product": _vectors("inner_product"),
    "cosine_similarity": _vectors("cosine_similarity"),
}
BUILT_IN |= {alias: BUILT_IN[name] for alias, name in _ALIASES.items()}
