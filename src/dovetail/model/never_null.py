"""Which columns of a result are never NULL: whoever carries the rows need not look.

result_time                 always
the time of a stream        if every result has a member of it: rows without a time are not let in
one side of = or a band     if every result is a match: NULL matches nothing
"""

from collections.abc import Collection

import pyarrow as pa

from dovetail.model.expression import Column
from dovetail.model.predicate import Band, Equality, operands
from dovetail.model.query import JoinQuery


def noted_schema(query: JoinQuery) -> pa.Schema:
    """The schema of a result, in which such columns are not nullable."""
    sure = {"result_time"}
    if query.aggregation is None:
        known = _times(query) | _compared(query)
        sure |= {output.name for output in query.select if _place(output.expression) in known}
    return pa.schema([field.with_nullable(field.name not in sure) for field in query.schema])


def _times(query: JoinQuery) -> set[tuple[str, str] | None]:
    missing: Collection[str] = {"left": query.names[1:], "right": query.names[:1], "full": query.names}.get(
        query.how, ()
    )
    if query.stepwise:
        last = max((query.names.index(name) for name in query.keeping), default=0)
        missing = [*query.names[:last], *(name for name, word in query.words.items() if word in ("left", "full"))]
    if query.answered is not None:
        missing = [stream.name for stream in query.streams if stream.asof is not None and stream.asof.how == "left"]
    return {(stream.name, stream.time) for stream in query.streams if stream.name not in missing}


def _compared(query: JoinQuery) -> set[tuple[str, str] | None]:
    if query.how not in ("inner", "semi"):
        return set()
    conjuncts = [predicate for predicate in query.predicates if isinstance(predicate, Equality | Band)]
    return {_place(side) for predicate in conjuncts for side in operands(predicate)} - {None}


def _place(expression: object) -> tuple[str, str] | None:
    return (expression.stream, expression.name) if isinstance(expression, Column) else None
