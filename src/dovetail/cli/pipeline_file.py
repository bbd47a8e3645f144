"""A pipeline file as queries: read, checked, and bound to its streams.

The same file can be bound without Spark, to check and explain it, and over DataFrames, to run it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer

from dovetail.api import Query, sql, stream
from dovetail.errors import DovetailError
from dovetail.model.stream import Stream
from dovetail.sql import Pipeline, parse_pipeline
from dovetail.sql.declarations import SinkDeclaration, StreamDeclaration
from dovetail.sql.pipeline import Insert

MISTAKE = 2


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


def routed(pipeline: Pipeline, data: Callable[[StreamDeclaration], Any] | None = None) -> list[Routed]:
    """The queries of a pipeline, over data if there is a way to get it."""
    streams = []
    for declared in pipeline.streams:
        given = {"schema": declared.schema} if data is None or declared.own else {"data": data(declared)}
        given |= {"data": declared.own} if data is not None and declared.own else {}
        delay = timedelta(microseconds=declared.delay_us)
        idle, ahead = _duration(declared.idle_us), _duration(declared.ahead_us)
        streams.append(stream(declared.name, time=declared.time, delay=delay, idle=idle, ahead=ahead, **given))
    return [Routed(_query(insert, streams), insert.sink) for insert in pipeline.inserts]


def _duration(us: int | None) -> timedelta | None:
    return None if us is None else timedelta(microseconds=us)


def _query(insert: Insert, streams: Sequence[Stream]) -> Query:
    return sql(insert.query, *streams, order=insert.sink.order, late=insert.sink.late)
