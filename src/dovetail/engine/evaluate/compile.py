"""An expression tree becomes one function of columns; the walk over the tree is done once.

    compile_expression(and(gt(T.value, 40), H.ok))   ->   f(columns, length) -> boolean array

Inside, a value is an Arrow array or, for as long as it is constant, an Arrow scalar.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from dovetail.engine.evaluate.operations import OPERATIONS
from dovetail.engine.evaluate.user import call_user
from dovetail.engine.evaluate.vectors import cosine_similarities, inner_products
from dovetail.model.expression import Call, Column, Expression, Literal

Columns = Mapping[tuple[str, str], pa.Array]
Compiled = Callable[[Columns, int], pa.Array]
_Node = Callable[[Columns, int], Any]


def evaluate(expression: Expression, columns: Columns, length: int) -> pa.Array:
    """The values of an expression over ``length`` rows; columns are keyed by (stream, column)."""
    return compile_expression(expression)(columns, length)


def compile_expression(expression: Expression) -> Compiled:
    """A function of columns and their length, for expressions that are evaluated more than once."""
    node, type = _compile(expression), expression.type

    def compiled(columns: Columns, length: int) -> pa.Array:
        return _spread(node(columns, length), type, length)

    return compiled


def _compile(expression: Expression) -> _Node:
    if isinstance(expression, Column):
        key = (expression.stream, expression.name)
        return lambda columns, length: columns[key]
    if isinstance(expression, Literal):
        scalar = pa.scalar(expression.value, expression.type)
        return lambda columns, length: scalar
    if expression.function in _WHOLE_COLUMNS:
        return _over_whole_columns(expression)
    return _elementwise(expression)


def _elementwise(call: Call) -> _Node:
    operation = OPERATIONS[call.function](call)
    nodes = [_compile(argument) for argument in call.arguments]
    if len(nodes) == 1:
        (only,) = nodes
        return lambda columns, length: operation(only(columns, length))
    if len(nodes) == 2:
        left, right = nodes
        return lambda columns, length: operation(left(columns, length), right(columns, length))
    return lambda columns, length: operation(*[node(columns, length) for node in nodes])


def _over_whole_columns(call: Call) -> _Node:
    operation = _WHOLE_COLUMNS[call.function](call)
    arguments = [compile_expression(argument) for argument in call.arguments]
    return lambda columns, length: operation([argument(columns, length) for argument in arguments], length)


_WHOLE_COLUMNS: dict[str, Callable[[Call], Callable[[list[pa.Array], int], pa.Array]]] = {
    "user": call_user,
    "inner_product": lambda call: inner_products,
    "cosine_similarity": lambda call: cosine_similarities,
}


def _spread(value: Any, type: pa.DataType, length: int) -> pa.Array:
    if not isinstance(value, pa.Scalar):
        return value
    return pa.repeat(value, length) if value.is_valid else pa.nulls(length, type)
