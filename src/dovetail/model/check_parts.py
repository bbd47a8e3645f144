"""The bound parts of a query: predicates, filters, columns and aggregates that speak of its streams, and fit them."""

from collections.abc import Iterator, Sequence
from typing import Any

from dovetail.errors import QueryError, nearest
from dovetail.model.aggregate import UNTIL, Aggregation, until
from dovetail.model.expression import Call, Column, Expression, Literal, columns_of
from dovetail.model.output import Output
from dovetail.model.predicate import Band, Equality, Residual, Similarity, operands
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow

_BOUND = "a query keeps it bound; to state it as text make the query anew with dovetail.join or dovetail.sql"


def check_parts(
    streams: Sequence[Stream], predicates: Any, filters: Any, select: Any, aggregation: Any, seen: Sequence[Stream]
) -> None:
    """QueryError unless all of them are bound to these streams; results have the columns of those that are ``seen``."""
    _check_tuple("predicates", predicates, Equality | Band | Similarity | Residual)
    _check_tuple("select", select, Output)
    if not isinstance(filters, tuple) or not all(map(_is_filter, filters)):
        raise QueryError(f"filters={filters!r}: {_BOUND}")
    if aggregation is not None and not isinstance(aggregation, Aggregation):
        raise QueryError(f"aggregation={aggregation!r}: {_BOUND}")
    conditions = [side for predicate in predicates for side in operands(predicate)]
    for column in _columns([*conditions, *(condition for _, condition in filters)]):
        _check_column(column, streams, ())
    for column in _columns([output.expression for output in select]):
        _check_column(column, seen, streams)
    if aggregation is not None:
        _check_until(select, tuple(seen))


def _check_tuple(part: str, values: Any, kind: Any) -> None:
    if not isinstance(values, tuple) or not all(isinstance(value, kind) for value in values):
        raise QueryError(f"{part}={values!r}: {_BOUND}")


def _is_filter(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Column | Literal | Call)


def _columns(expressions: Sequence[Expression]) -> Iterator[Column]:
    return iter(dict.fromkeys(column for expression in expressions for column in columns_of(expression)))


def _check_column(column: Column, streams: Sequence[Stream], every: Sequence[Stream]) -> None:
    """The column is in one of the streams, and has the type that it was bound with."""
    stream = next((each for each in streams if each.name == column.stream), None)
    if stream is None and any(each.name == column.stream for each in every):
        raise QueryError(not_in_result(column.stream, [each.name for each in streams]))
    if stream is None:
        tail = nearest(column.stream, [each.name for each in streams]).replace("it has", "the query has", 1)
        raise QueryError(f"there is no stream '{column.stream}'; {tail}")
    if column.name not in stream.schema.names:
        tail = nearest(column.name, stream.schema.names)
        raise QueryError(f"stream '{stream.name}' has no column '{column.name}'; {tail}")
    found = stream.schema.field(column.name).type
    if found != column.type:
        raise QueryError(f"column {column} has type {found}, and the query was made for {column.type}; make it anew")


def not_in_result(stream: str, names: Sequence[str]) -> str:
    """The sentence about the second stream of a semi or anti join; ``names``: those that can be spoken of."""
    others = " and ".join(f"'{name}'" for name in names if name != stream)
    return f"the rows of '{stream}' are not in the result of this join; only those of {others} are"


def _check_until(select: Sequence[Output], seen: tuple[Stream, ...]) -> None:
    """Aggregates know when a result leaves from the windows that they were bound with."""
    counted = next((stream for stream in seen if isinstance(stream.window, RowWindow)), None)
    ends = [output.expression for output in select if output.name == UNTIL]
    if counted is not None or ends != [until(seen)]:
        raise QueryError(
            "aggregates were made for other windows or another kind of join; make the query anew with dovetail.join "
            "or dovetail.sql"
        )
