"""Calls by name: the user's own functions first, then those of the language.

    closeness(T.value, H.value)   ->   the user's function, its arguments cast to the types it was declared with
    abbs(T.value)                 ->   there is no function 'abbs' as in "abbs(T.value)"; ... Did you mean 'ABS'?

Case does not matter in the name of a function.
"""

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError, nearest
from dovetail.model.expression import Call, Expression, UserFunction
from dovetail.sql.build import beside, coerce
from dovetail.sql.dialect import sql_text
from dovetail.sql.functions import BUILT_IN, Function
from dovetail.sql.scope import Scope
from dovetail.sql.term import Term, describe
from dovetail.sql.types import common_type, is_vector

AGGREGATES = ("count", "sum", "avg", "min", "max")


def callee(node: exp.Anonymous, scope: Scope) -> UserFunction | Function:
    """The function that a call names."""
    found = scope.function(node.name) or BUILT_IN.get(node.name.lower())
    if found is None:
        raise _unknown(node, scope)
    return found


def bind_call(function: UserFunction | Function, terms: list[Term], node: exp.Anonymous) -> Expression:
    """The call with its arguments checked and brought to the types the function takes."""
    if isinstance(function, UserFunction):
        count = len(function.arguments)
        _check_count(count, count, len(terms), node)
        values = tuple(_argument(function, at, term, node) for at, term in enumerate(terms))
        return Call("user", values, function.result, function)
    _check_count(function.least, function.most, len(terms), node)
    return function.bind(node.name, terms, node)


def _argument(function: UserFunction, at: int, given: Term, node: exp.Expr) -> Expression:
    wanted, value = function.arguments[at], beside(given, function.arguments[at])
    if not _accepts(wanted, value.type):
        needs = f"{function.name} needs {wanted} as argument {at + 1}"
        raise QueryError(f'{needs}, but came {describe(given)} in "{sql_text(node)}"')
    return coerce(value, wanted)


def _accepts(wanted: pa.DataType, came: pa.DataType) -> bool:
    """Whether a value is cast for the user without being asked; a fraction is never cut off."""
    if wanted == came or (is_vector(wanted) and is_vector(came)):
        return True
    if pa.types.is_integer(wanted) and (pa.types.is_floating(came) or pa.types.is_decimal(came)):
        return False
    return common_type(wanted, came) is not None


def _check_count(least: int, most: int | None, came: int, node: exp.Anonymous) -> None:
    if least <= came and (most is None or came <= most):
        return
    wanted = f"{least} or more" if most is None else str(least) if least == most else f"{least} or {most}"
    plural = "" if wanted == "1" else "s"
    raise QueryError(f'{node.name.upper()} takes {wanted} argument{plural}, but "{sql_text(node)}" has {came}')


def _unknown(node: exp.Anonymous, scope: Scope) -> QueryError:
    if node.name.lower() in AGGREGATES:
        return QueryError(f'"{sql_text(node)}" is an aggregate; it has no place in an expression over single rows')
    known = sorted(function.upper() for function in (*BUILT_IN, *AGGREGATES)) + list(scope.functions)
    tail = nearest(node.name, known).replace("it has", "there is", 1)
    return QueryError(f"there is no function '{node.name}' as in \"{sql_text(node)}\"; {tail}")
