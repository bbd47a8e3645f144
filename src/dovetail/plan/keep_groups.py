"""Aggregates on Spark: every group must be whole in one cell of the grid.

    T.k = H.k AND T.place = H.place, GROUP BY T.k       an axis that hashes k alone keeps groups whole
                                     GROUP BY T.day     no axis does: one cell, which sees the whole ordered output

An axis keeps groups whole if it is a hash of expressions of one stream that are all keys of the groups, and that stream
has a row in every result. A cell then aggregates by itself what it joins.
"""

from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail.model.expression import Call, Expression
from dovetail.model.query import JoinQuery

if TYPE_CHECKING:
    from dovetail.plan.partition_grid import Grid


def keeps_groups(query: JoinQuery, grid: "Grid") -> bool:
    """Whether no group of the query's aggregates is spread over several cells."""
    if query.aggregation is None:
        return True
    keys = [output.expression for output in query.select if output.name in query.aggregation.keys]
    always = _always_present(query)
    owned = [[own for name, own in getattr(axis, "keys", {}).items() if name in always] for axis in grid.axes]
    return all(any(all(_is_key(each, keys) for each in own) for own in choices) for choices in owned)


def where_aggregated(grid: "Grid") -> str:
    """In words, where on Spark the aggregates are made."""
    if grid.cells > 1:
        return "each cell aggregates what it joins: every group is whole in one cell"
    return "one cell joins and aggregates: groups would be spread over several"


def _always_present(query: JoinQuery) -> tuple[str, ...]:
    if query.how == "inner":
        return query.names
    return query.names[:1] if query.how == "semi" else query.preserved if len(query.preserved) == 1 else ()


def _is_key(expression: Expression, keys: list[Expression]) -> bool:
    """A key, or one in another type (but equal floats may look different as something else)."""
    if isinstance(expression, Call) and expression.function == "cast":
        inner = expression.arguments[0]
        return expression in keys or (inner in keys and not pa.types.is_floating(inner.type))
    return expression in keys
