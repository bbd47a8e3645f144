"""A pipeline file as queries: read, checked, and bound to its streams.

The same file can be bound without Spark, to check and explain it, and over DataFrames, to run it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import typer

from dovetail.api import Query, sql, stream, table
from dovetail.errors import DovetailError
from dovetail.model.stream import Stream
from dovetail.sql import Pipeline, parse_pipeline
from dovetail.sql.declarations import SinkDeclaration, StreamDeclaration
from dovetail.sql.pipeline import Derived, Insert

MISTAKE = 2  # the exit status of Unix for wrong usage


@dataclass(frozen=True)
class Routed:
    """A query and where its results go."""

    query: Query
    sink: SinkDeclaration


def read_pipeline(path: Path) -> tuple[Pipeline, list[Routed]]:
    """The file, checked without Spark; a mistake in it is shown and ends the program."""
    try:
        pipeline = parse_pipeline(path.read_text())
        return pipeline, routed(pipeline)
    except (DovetailError, UnicodeDecodeError) as error:
        typer.echo(f"{path}: {error}", err=True)
        raise typer.Exit(MISTAKE) from None


Frames = Callable[[StreamDeclaration], Any]


def routed(pipeline: Pipeline, data: Frames | None = None) -> list[Routed]:
    """The queries of a pipeline, over data if there is a way to get it."""
    streams, _ = _streams(pipeline, data)
    return [Routed(_query(insert, streams), insert.sink) for insert in pipeline.inserts]


def derived_queries(pipeline: Pipeline) -> dict[str, Query]:
    """The queries whose results are streams."""
    return _streams(pipeline, None)[1]


def _streams(pipeline: Pipeline, data: Frames | None) -> tuple[list[Stream], dict[str, Query]]:
    """All streams, declared and derived, and the queries that some of these are the results of."""
    streams, queries = [_declared(each, _data_of(each, data)) for each in pipeline.streams], {}
    for derived in pipeline.derived:
        if derived.united:
            streams.append(_united(derived, pipeline, data))
        else:
            query = queries[derived.name] = _ordered(derived, streams)
            streams.append(_results(derived, query, data))
    return streams, queries


def _data_of(declared: StreamDeclaration, data: Frames | None) -> Any:
    """What a stream is read from: by Dovetail itself, or by Spark; None if it is not to be read, and goes on."""
    if data is None:
        return declared.own if declared.own is not None and declared.own.static else None
    return declared.own or data(declared)


def _declared(declared: StreamDeclaration, data: Any) -> Stream:
    if declared.key:
        return _table(declared, data)
    given = {"schema": declared.schema} if data is None or declared.own else {}
    given |= {"data": data} if data is not None else {}
    delay = timedelta(microseconds=declared.delay_us)
    idle, ahead = _duration(declared.idle_us), _duration(declared.ahead_us)
    given |= {"dedup": declared.dedup or None, "match": declared.match}
    return stream(declared.name, time=declared.time, delay=delay, idle=idle, ahead=ahead, **given)


def _table(declared: StreamDeclaration, data: Any) -> Stream:
    """A table; one that is not to be read has no rows, and the columns it has."""
    given: dict[str, Any] = {"key": declared.key, "ready": declared.ready, "time": declared.time or None}
    given |= {"delay": timedelta(microseconds=declared.delay_us), "ttl": _duration(declared.ttl_us)}
    if declared.time and (data is None or declared.own):
        given["schema"] = declared.schema
    return table(declared.name, declared.schema.empty_table() if data is None and not declared.time else data, **given)


def _united(derived: Derived, pipeline: Pipeline, data: Frames | None) -> Stream:
    """All rows of several streams; as late as the latest of them may be."""
    parts = [each for name in derived.united for each in pipeline.streams if each.name == name]
    latest = max(parts, key=lambda each: each.delay_us)
    frames = [] if data is None else [data(each) for each in parts]
    together = reduce(lambda one, other: one.unionByName(other), frames) if frames else None
    return _declared(replace(latest, name=derived.name), together)


def _results(derived: Derived, query: Query, data: Frames | None) -> Stream:
    given = {"schema": query.schema} if data is None else {"data": query.spark()}
    return stream(derived.name, time="result_time", **given)


def _ordered(derived: Derived, streams: Sequence[Stream]) -> Query:
    """In order of time, so that the last result says how far the stream has come."""
    return sql(derived.query, *streams, order="hold")


def _duration(us: int | None) -> timedelta | None:
    return None if us is None else timedelta(microseconds=us)


def _query(insert: Insert, streams: Sequence[Stream]) -> Query:
    return sql(insert.query, *streams, **insert.sink.settings)
