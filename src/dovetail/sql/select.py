"""The text of a select list becomes the columns of the result.

    bind_select("T.location, T.value AS temperature, T.value + 1", streams, {})
        ->   location, temperature, and one named by its own text: "t.value + 1"

A bare column takes its own name; where two items would share it, or it is ``result_time``, it is ``<stream>_<column>``.
An expression without AS is named by its text in lower case. Without a select list every column of every stream is
in the result as ``<stream>_<column>``. With aggregates in it the list is of groups (see ``aggregates``).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.aggregate import Aggregation
from dovetail.model.expression import Column, Expression, UserFunction
from dovetail.model.output import Output
from dovetail.model.stream import Stream
from dovetail.sql.aggregates import (
    aggregation,
    appearing,
    distinct_scope,
    group_scope,
    has_aggregates,
    joined_columns,
)
from dovetail.sql.bind import bind, is_field, named_column, term
from dovetail.sql.build import coerce, condition
from dovetail.sql.collations import check_comparisons
from dovetail.sql.dialect import parse_items, shortened, sql_text
from dovetail.sql.place import PlacedError, placed
from dovetail.sql.scope import Scope
from dovetail.sql.types import plain_type

RESULT_TIME = "result_time"
Bound = TypeVar("Bound")


@dataclass(frozen=True)
class Item:
    """One item: its short name, and the longer one to fall back on (None if the name is the user's own)."""

    name: str
    longer: str | None
    expression: Expression


@dataclass(frozen=True)
class Items:
    """A select list as it was parsed, with what belongs to it: GROUP BY, HAVING, DISTINCT."""

    nodes: Sequence[exp.Expr]
    group: exp.Group | None = None
    having: exp.Expr | None = None
    distinct: bool = False


@dataclass(frozen=True)
class Selected:
    """The columns that the join gives, and what is aggregated of them."""

    outputs: tuple[Output, ...]
    aggregation: Aggregation | None = None


def bind_select(
    text: str | None, streams: Sequence[Stream], functions: Mapping[str, UserFunction]
) -> tuple[Output, ...]:
    """The columns of single results; QueryError says what is wrong with the text."""
    scope = Scope(streams, functions)
    if text is None:
        every = [column for stream in streams for column in scope.columns(stream.name)]
        return _unique([Output(_long_name(column), _plain(column)) for column in every])
    return _read(text, lambda nodes: outputs_of(nodes, scope))


def bind_list(
    text: str | None, streams: Sequence[Stream], functions: Mapping[str, UserFunction], hidden: Sequence[str] = ()
) -> Selected:
    """As ``bind_select``, with aggregates or without; hidden streams cannot be spoken of."""
    if text is None:
        return Selected(bind_select(None, streams, functions))
    scope = Scope(streams, functions, hidden)
    return _read(text, lambda nodes: selected(Items(nodes), scope))


def _read(text: str, bound: Callable[[Sequence[exp.Expr]], Bound]) -> Bound:
    nodes = parse_items(text)
    try:
        return bound(nodes)
    except RecursionError:
        raise QueryError(f'cannot read "{shortened(text)}": it is nested too deeply') from None
    except PlacedError as mistake:
        raise QueryError(str(mistake)) from None


def selected(items: Items, scope: Scope) -> Selected:
    """What a select list asks for."""
    nodes, aggregates = items.nodes, has_aggregates(items.nodes, scope)
    if items.distinct:
        return _distinct(items, scope, aggregates)
    if items.group is None and not aggregates:
        if items.having is not None:
            raise placed(
                QueryError("HAVING is about groups; without aggregates put the condition in WHERE"), items.having
            )
        return Selected(outputs_of(nodes, scope))
    grouped = group_scope(nodes, items.group, scope)
    outputs = outputs_of(nodes, grouped)
    having = None if items.having is None else _having(items.having, grouped)
    return Selected(joined_columns(grouped), aggregation(grouped, items.group, outputs, having))


def _distinct(items: Items, scope: Scope, aggregates: bool) -> Selected:
    """Rows as groups of equal results, each of which comes out when it appears."""
    if aggregates or items.group is not None or items.having is not None:
        raise QueryError("SELECT DISTINCT is about single results: leave it out beside aggregates, GROUP BY and HAVING")
    plain = [node.this if isinstance(node, exp.Alias) else node for node in items.nodes]
    group = exp.Group(expressions=[node.copy() for node in plain])
    grouped = distinct_scope(items.nodes, group, scope)
    return Selected(joined_columns(grouped), appearing(grouped, group, outputs_of(items.nodes, grouped)))


def _having(node: exp.Expr, grouped: Scope) -> Expression:
    try:
        return condition(term(node, grouped), "HAVING")
    except QueryError as error:
        raise placed(error, node) from None


def outputs_of(nodes: Sequence[exp.Expr], scope: Scope) -> tuple[Output, ...]:
    """The columns that the items of a select list give."""
    return _named([item for node in nodes for item in _placed_items(node, scope)])


def _placed_items(node: exp.Expr, scope: Scope) -> list[Item]:
    try:
        return list(_items(node, scope))
    except QueryError as error:
        raise placed(error, node) from None


def _items(node: exp.Expr, scope: Scope) -> Iterator[Item]:
    if isinstance(node, exp.Star):
        _only_star(node)
        for stream in scope.streams:
            yield from map(_column_item, scope.columns(stream.name))
    elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        _only_star(node.this)
        yield from map(_column_item, scope.columns(node.table))
    elif isinstance(node, exp.Alias):
        yield Item(node.alias, None, _typed(node.this, scope))
    else:
        yield _unnamed(node, scope)


def _only_star(star: exp.Star) -> None:
    if any(star.args.values()):
        raise QueryError(f'"{sql_text(star)}" is not part of the language; write * or the names of columns')


def _unnamed(node: exp.Expr, scope: Scope) -> Item:
    if isinstance(node, exp.Column | exp.Dot):
        column = named_column(node, scope)
        if is_field(node, scope):
            return Item(column.name.rpartition(".")[2], _long_name(column).replace(".", "_"), bind(node, scope))
        return Item(column.name, _long_name(column), bind(node, scope))
    return Item(sql_text(node).lower(), None, _typed(node, scope))


def _typed(node: exp.Expr, scope: Scope) -> Expression:
    expression = bind(node, scope)
    check_comparisons(expression, scope.streams)
    if pa.types.is_null(expression.type):
        raise QueryError(f'"{sql_text(node)}" has no type; write CAST(... AS ...)')
    return expression


def _column_item(column: Column) -> Item:
    return Item(column.name, _long_name(column), _plain(column))


def _long_name(column: Column) -> str:
    return f"{column.stream}_{column.name}"


def _plain(column: Column) -> Expression:
    return coerce(column, plain_type(column.type))


def _named(items: list[Item]) -> tuple[Output, ...]:
    taken = Counter(item.name for item in items)
    taken[RESULT_TIME] += 1
    outputs = [
        Output(item.longer if item.longer and taken[item.name] > 1 else item.name, item.expression) for item in items
    ]
    return _unique(outputs)


def _unique(outputs: list[Output]) -> tuple[Output, ...]:
    taken = Counter(output.name for output in outputs)
    if RESULT_TIME in taken:
        raise QueryError(f"the name '{RESULT_TIME}' is taken by the first column of every result; choose another")
    twice = [name for name, count in taken.items() if count > 1]
    if twice:
        raise QueryError(f"the select list has '{twice[0]}' more than once; give each its own name with AS")
    return tuple(outputs)
