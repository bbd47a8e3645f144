"""As-of joins as one operator: what they must have in common, and the join that answers the rows of all.

    q1   T ASOF JOIN Q ... WHERE T.size > 100   select T.price, Q.bid   \\   union: ASOF LEFT JOIN, every row of T,
    q2   T ASOF LEFT JOIN Q ...                 select T.size, Q.bid    /    T.price, T.size, Q.bid, Q.ts

Which row is the best depends on the conditions, and among rows of one time on the columns of its stream that a query
uses: these must be the same. What is done above the join is each query's own: columns of the answered stream, order,
conditions on that stream alone in inner joins, and whether a row without an answer comes out, as the times of the
answers tell.
"""

from collections.abc import Sequence
from dataclasses import replace

from dovetail.model.asof import Missing
from dovetail.model.expression import Column, columns_of
from dovetail.model.output import Output
from dovetail.model.query import JoinQuery


def asof_signature(query: JoinQuery) -> list[object]:
    """The same for as-of joins whose answers are the same; empty for other joins."""
    if query.answered is None:
        return []
    sides = [
        (replace(each.asof, how="inner"), each.asof.offset_us, each.table, sorted(query.columns_used(each.name)))
        for each in query.streams
        if each.asof is not None
    ]
    decides = sorted(str(part) for part in query.filters if part[0] != query.answered or query.how == "left")
    return [*sides, *decides]


def asof_union(queries: Sequence[JoinQuery]) -> JoinQuery:
    """The as-of join whose answers are those of all of them."""
    first = queries[0]
    kept = [name for name in first.names if any(_is_left(query, name) for query in queries)]
    streams = tuple(
        stream if stream.asof is None else replace(stream, asof=replace(stream.asof, how=_word(stream.name in kept)))
        for stream in first.streams
    )
    times = [Column(each.name, each.time, each.time_type) for each in streams if each.asof is not None]
    read = [column for query in queries for column in _read_by(query)]
    return replace(
        first,
        streams=streams,
        filters=tuple(part for part in first.filters if all(part in query.filters for query in queries)),
        select=tuple(Output(str(column), column) for column in dict.fromkeys([*times, *read])),
        how=_word(bool(kept)),
        order="none",
    )


def _is_left(query: JoinQuery, name: str) -> bool:
    asof = query.stream(name).asof
    return asof is not None and asof.how == "left"


def _word(left: bool) -> Missing:
    return "left" if left else "inner"


def _read_by(query: JoinQuery) -> list[Column]:
    """What a query selects, and what its conditions on the answered stream are about."""
    expressions = [output.expression for output in query.select] + list(query.filters_of(query.answered))
    return [column for expression in expressions for column in columns_of(expression)]
