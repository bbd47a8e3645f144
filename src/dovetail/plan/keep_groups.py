"""Aggregates in cells, of Spark or of threads: every group must be whole in one cell of the grid.

    T.k = H.k AND T.place = H.place, GROUP BY T.k       an axis that hashes k alone keeps groups whole
                                     GROUP BY T.day     no axis does: one cell, which sees the whole ordered output

An axis keeps groups whole if it is a hash of expressions of one stream that are all keys of the groups, and that stream
has a row in every result. A cell then aggregates by itself what it joins.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail.model.aggregate import GROUP
from dovetail.model.expression import Call, Column, Expression
from dovetail.model.output import Output
from dovetail.model.query import JoinQuery

if TYPE_CHECKING:
    from dovetail.plan.partition_grid import Grid


def keeps_groups(query: JoinQuery, grid: "Grid") -> bool:
    """Whether no group of the query's aggregates is spread over several cells."""
    return query.aggregation is None or None not in keys_of_groups(query, grid)


def keys_of_groups(query: JoinQuery, grid: "Grid") -> list[tuple[Expression, ...] | None]:
    """What each axis hashes, in columns of the groups' keys; None where it may spread a group."""
    assert query.aggregation is not None
    keys = [output for output in query.select if output.name in query.aggregation.keys]
    always = _always_present(query)
    owned = [[own for name, own in getattr(axis, "keys", {}).items() if name in always] for axis in grid.axes]
    return [next(filter(None, (_all_keys(own, keys) for own in choices)), None) for choices in owned]


def _all_keys(expressions: Sequence[Expression], keys: Sequence[Output]) -> tuple[Expression, ...] | None:
    found = [_as_key(each, keys) for each in expressions]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def where_aggregated(grid: "Grid") -> str:
    """In words, where on Spark the aggregates are made."""
    if grid.cells > 1:
        return "each cell aggregates what it joins: every group is whole in one cell"
    return "one cell joins and aggregates: groups would be spread over several"


def _always_present(query: JoinQuery) -> tuple[str, ...]:
    if query.how == "inner":
        return query.names
    return query.names[:1] if query.how == "semi" else query.preserved if len(query.preserved) == 1 else ()


def _as_key(expression: Expression, keys: Sequence[Output]) -> Expression | None:
    """The column of a key, or one in another type (but equal floats may look different as something else)."""
    for key in keys:
        if key.expression == expression:
            return Column(GROUP, key.name, expression.type)
    if isinstance(expression, Call) and expression.function == "cast":
        inner = _as_key(expression.arguments[0], keys)
        if inner is not None and not pa.types.is_floating(inner.type):
            return replace(expression, arguments=(inner, *expression.arguments[1:]))
    return None
