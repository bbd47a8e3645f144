"""The text of a join condition becomes predicates between streams and filters on single streams.

bind_condition("T.location = H.location AND T.value > 40", streams, {})
    ->   Condition(predicates=(T.location = H.location,), filters=(("T", gt(T.value, 40)),))
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.expression import Expression, UserFunction, streams_of
from dovetail.model.predicate import Predicate
from dovetail.model.steps import tied_to
from dovetail.model.stream import Stream
from dovetail.sql.band import merge_bands
from dovetail.sql.bind import term
from dovetail.sql.build import condition
from dovetail.sql.classify import as_predicate, conjuncts
from dovetail.sql.collations import check_comparisons
from dovetail.sql.dialect import parse_expression, shortened
from dovetail.sql.place import PlacedError, placed
from dovetail.sql.scope import Scope


@dataclass(frozen=True)
class Condition:
    """The conjuncts between streams, and those on one stream alone with its name."""

    predicates: tuple[Predicate, ...]
    filters: tuple[tuple[str, Expression], ...]


def bind_condition(text: str, streams: Sequence[Stream], functions: Mapping[str, UserFunction]) -> Condition:
    """The condition that the text states about the streams; QueryError says what is wrong with it."""
    node = parse_expression(text)
    try:
        return condition_of([node], Scope(streams, functions))
    except RecursionError:
        raise QueryError(f'cannot read "{shortened(text)}": it is nested too deeply') from None
    except PlacedError as mistake:
        raise QueryError(str(mistake)) from None


def condition_of(nodes: Sequence[exp.Expr], scope: Scope, about: Stream | None = None) -> Condition:
    """The condition that several nodes state together, ``about`` the partners of one stream if they stand in its ON."""
    order = tuple(stream.name for stream in scope.streams)
    predicates: list[Predicate] = []
    filters: list[tuple[str, Expression]] = []
    for conjunct in (part for node in nodes for part in conjuncts(_whole(node, scope))):
        check_comparisons(conjunct, scope.streams)
        names = streams_of(conjunct)
        if about is not None and about.name not in names:
            predicates.append(tied_to(about, conjunct))
        elif len(names) > 1:
            predicates.append(as_predicate(conjunct, order))
        else:
            filters.append((min(names, default=order[0]), conjunct))
    return Condition(tuple(merge_bands(predicates)), tuple(filters))


def _whole(node: exp.Expr, scope: Scope) -> Expression:
    try:
        return condition(term(node, scope), "a join condition")
    except QueryError as error:
        raise placed(error, node) from None
