"""A query under the names that its streams were declared with, so that queries with other aliases can be compared.

    FROM Temperature T, Humidity H WHERE T.k = H.k      \\   both: Humidity, Temperature, Temperature.k = Humidity.k
    FROM Humidity x, Temperature y WHERE y.k = x.k      /

What comes out keeps its names. A stream that a query has twice keeps its aliases. The order of streams only means
something where windows count rows, so elsewhere it becomes that of the names.
"""

from collections.abc import Mapping
from dataclasses import replace

from dovetail.model.expression import Call, Column, Expression
from dovetail.model.predicate import rewritten
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow


def under_declared_names(query: JoinQuery) -> JoinQuery:
    """The same inner join without aggregates, its streams named as they were declared."""
    declared = [stream.declared or stream.name for stream in query.streams]
    names = {stream.name: name for stream, name in zip(query.streams, declared, strict=True)}
    if len(set(declared)) < len(declared):
        return query
    return replace(
        query,
        streams=_sorted([replace(stream, name=names[stream.name]) for stream in query.streams]),
        predicates=tuple(rewritten(each, lambda part: _expression(part, names)) for each in query.predicates),
        filters=tuple((names[stream], _expression(condition, names)) for stream, condition in query.filters),
        select=tuple(replace(each, expression=_expression(each.expression, names)) for each in query.select),
    )


def _sorted(streams: list[Stream]) -> tuple[Stream, ...]:
    counted = any(not isinstance(stream.window, TimeWindow) for stream in streams)
    return tuple(streams if counted else sorted(streams, key=lambda stream: stream.name))


def _expression(expression: Expression, names: Mapping[str, str]) -> Expression:
    if isinstance(expression, Column):
        return replace(expression, stream=names[expression.stream])
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_expression(each, names) for each in expression.arguments))
    return expression
