"""What each function of the language does to Arrow values; ``OPERATIONS`` has one entry per name.

An entry takes the call, looks once at its types and constants, and returns the function of values to run:

    OPERATIONS["divide"](x / 2)   ->   Arrow's divide           the divisor is known not to be zero
    OPERATIONS["divide"](x / y)   ->   divide(x, y or NULL)     where y is zero the result is NULL

Values are arrays or scalars. Arithmetic that overflows is NULL, so nothing raises in a branch of a CASE not taken.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.evaluate.arithmetic import divided, epoch_us, remainder, rounded, typed
from dovetail.engine.evaluate.casts import cast_to
from dovetail.engine.evaluate.overflow import null_on_overflow
from dovetail.engine.evaluate.strings import joined, like, substring
from dovetail.model.expression import Call, Literal

Operation = Callable[..., Any]


def _direct(operation: Operation) -> Callable[[Call], Operation]:
    return lambda call: operation


def _chained(name: str) -> Callable[[Call], Operation]:
    """AND and OR take any number of conditions."""
    operation = pc.get_function(name).call

    def pair(left: Any, right: Any) -> Any:
        return operation([left, right])

    return lambda call: pair if len(call.arguments) == 2 else lambda *values: reduce(pair, values)


def _arrow(name: str) -> Callable[[Call], Operation]:
    operation = pc.get_function(name).call
    return lambda call: lambda *values: operation(values)


def _case(call: Call) -> Operation:
    """Arguments are condition, value, condition, value, ..., default; the first condition that is true wins."""

    def choose(*values: Any) -> Any:
        result = values[-1]
        for at in range(len(values) - 3, -1, -2):
            result = pc.if_else(pc.coalesce(values[at], False), values[at + 1], result)
        return result

    return choose


def _member(call: Call) -> Operation:
    """``needle IN (constants)``: NULL for a NULL needle, and where nothing matches but the list holds NULL."""
    options = [option.value for option in call.arguments[1:] if isinstance(option, Literal)]
    known = pa.array([option for option in options if option is not None], call.arguments[0].type)
    unknown = pa.scalar(None if None in options else False, pa.bool_())

    def contains(needle: Any, *_: Any) -> Any:
        found = pc.if_else(pc.is_in(needle, known), True, unknown)
        return pc.if_else(pc.is_valid(needle), found, pa.scalar(None, pa.bool_()))

    return contains


def _null_if(call: Call) -> Operation:
    nothing = pa.scalar(None, call.type)
    return lambda value, other: pc.if_else(pc.coalesce(pc.equal(value, other), False), nothing, value)


def _extreme(of_numbers: Operation, at_least: Operation) -> Callable[[Call], Operation]:
    """GREATEST and LEAST pass over NULL; Arrow's own do numbers (and pass over NaN) but not every kind of time."""

    def pick(left: Any, right: Any) -> Any:
        return pc.if_else(pc.coalesce(at_least(left, right), pc.is_valid(left)), left, right)

    def build(call: Call) -> Operation:
        floating = pa.types.is_floating(call.type)
        return of_numbers if floating else lambda *values: reduce(pick, values)

    return build


def _period(call: Call) -> Operation:
    """``date_trunc(unit, time)``: when the second, day, week ... began in which a time without a zone lies."""
    unit = call.arguments[0]
    assert isinstance(unit, Literal), "the unit is a word"
    return lambda _, value: pc.floor_temporal(value, unit=unit.value)


OPERATIONS: dict[str, Callable[[Call], Operation]] = {
    "eq": _arrow("equal"),
    "ne": _arrow("not_equal"),
    "lt": _arrow("less"),
    "le": _arrow("less_equal"),
    "gt": _arrow("greater"),
    "ge": _arrow("greater_equal"),
    "and": _chained("and_kleene"),
    "or": _chained("or_kleene"),
    "not": _direct(pc.invert),
    "is_null": _direct(pc.is_null),
    "add": null_on_overflow("add"),
    "subtract": null_on_overflow("subtract"),
    "multiply": null_on_overflow("multiply"),
    "divide": divided,
    "modulo": remainder,
    "negate": null_on_overflow("negate"),
    "abs": null_on_overflow("abs"),
    "cast": cast_to,
    "coalesce": _arrow("coalesce"),
    "case": _case,
    "in": _member,
    "nullif": _null_if,
    "like": like,
    "lower": _direct(pc.utf8_lower),
    "upper": _direct(pc.utf8_upper),
    "length": typed(pc.utf8_length),
    "trim": _direct(lambda text: pc.utf8_trim(text, characters=" ")),
    "concat": joined,
    "substring": substring,
    "round": rounded,
    "floor": typed(pc.floor),
    "ceil": typed(pc.ceil),
    "sqrt": _direct(pc.sqrt),
    "power": _arrow("power"),
    "exp": _direct(pc.exp),
    "ln": _direct(pc.ln),
    "sign": typed(pc.sign),
    "greatest": _extreme(pc.max_element_wise, pc.greater_equal),
    "least": _extreme(pc.min_element_wise, pc.less_equal),
    "year": typed(pc.year),
    "month": typed(pc.month),
    "day": typed(pc.day),
    "hour": typed(pc.hour),
    "minute": typed(pc.minute),
    "second": typed(pc.second),
    "date_trunc": _period,
    "epoch_us": epoch_us,
}
