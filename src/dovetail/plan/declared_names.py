"""A query under the names that its streams were declared with, so that queries with other aliases can be compared.

    FROM Temperature T, Humidity H WHERE T.k = H.k      \\   both: Humidity, Temperature, Temperature.k = Humidity.k
    FROM Humidity x, Temperature y WHERE y.k = x.k      /

What comes out keeps its names. A stream that a query has twice keeps its aliases. The order of streams only means
something where windows count rows, and in semi and anti joins, so elsewhere it becomes that of the names: a left join
whose streams change places is a right join.
"""

from collections.abc import Mapping
from dataclasses import replace

from dovetail.model.aggregate import UNTIL, until
from dovetail.model.expression import Call, Column, Expression
from dovetail.model.output import Output
from dovetail.model.predicate import rewritten
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow


def under_declared_names(query: JoinQuery) -> JoinQuery:
    """The same join, its streams named as they were declared."""
    declared = [stream.declared or stream.name for stream in query.streams]
    names = {stream.name: name for stream, name in zip(query.streams, declared, strict=True)}
    if len(set(declared)) < len(declared):
        return query
    before = tuple(replace(stream, name=names[stream.name]) for stream in query.streams)
    streams = _sorted(before, query.how)
    return replace(
        query,
        streams=streams,
        how=query.how if streams == before else _TURNED.get(query.how, query.how),
        predicates=tuple(rewritten(each, lambda part: _expression(part, names)) for each in query.predicates),
        filters=tuple((names[stream], _expression(condition, names)) for stream, condition in query.filters),
        select=tuple(_output(query, each, names, streams) for each in query.select),
    )


def _output(query: JoinQuery, output: Output, names: Mapping[str, str], streams: tuple[Stream, ...]) -> Output:
    """A column; how long a result counts is told by the streams in their order."""
    if query.aggregation and output.name == UNTIL:
        return replace(output, expression=until(streams[: len(query.seen)]))
    return replace(output, expression=_expression(output.expression, names))


_TURNED: Mapping[str, str] = {"left": "right", "right": "left"}


def _sorted(streams: tuple[Stream, ...], how: str) -> tuple[Stream, ...]:
    counted = any(not isinstance(stream.window, TimeWindow) for stream in streams)
    return streams if counted or how in ("semi", "anti") else tuple(sorted(streams, key=lambda stream: stream.name))


def _expression(expression: Expression, names: Mapping[str, str]) -> Expression:
    if isinstance(expression, Column):
        return replace(expression, stream=names[expression.stream])
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_expression(each, names) for each in expression.arguments))
    return expression
