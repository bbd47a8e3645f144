"""The declarations of a pipeline file: where rows come from and where results go.

    CREATE STREAM Temperature (
        location STRING, value DOUBLE, ts TIMESTAMP,
        WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
    ) WITH (format = 'parquet', path = 'in/temperature')

    CREATE TABLE Places (
        location STRING, city STRING, PRIMARY KEY (location)
    ) WITH (format = 'parquet', path = 'in/places')

    CREATE SINK alarms WITH (format = 'parquet', path = 'out/alarms', checkpoint = 'out/alarms.checkpoint')

WATERMARK names the column that is the event time, and by how much rows may come late. A table with a WATERMARK is of
versions, each valid from its time on; one without is the same at all times. A stream may have ``idle``, ``ahead``,
``dedup`` and ``match``, a table ``ready`` and ``ttl``, a sink ``trigger``, ``schedule`` and all that ``run_options``
reads; any other option but ``format`` and ``checkpoint`` is for Spark, as it is. With ``reader = 'dovetail'`` Dovetail
reads by itself, with ``writer = 'dovetail'`` it writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from sqlglot import TokenType

from dovetail.errors import nearest
from dovetail.model.duration import duration_us
from dovetail.model.sinks import OwnSink
from dovetail.model.sources import Source
from dovetail.plan.share_queries import SCHEDULES
from dovetail.sql.options import read_options
from dovetail.sql.own_ends import own_sink, own_source
from dovetail.sql.place import Span
from dovetail.sql.reader import Reader
from dovetail.sql.run_options import read_late_path, read_run_options
from dovetail.sql.scope import find_name
from dovetail.sql.spark_types import read_type

_FORGETFUL = ("console", "memory", "noop")


@dataclass(frozen=True)
class ColumnDeclaration:
    """A column: its type in Arrow, and as it was written for Spark."""

    name: str
    type: pa.DataType
    written: str


@dataclass(frozen=True)
class StreamDeclaration:
    """A stream or table to be read: its columns, its time column ("": none), how late rows may be, and the source."""

    name: str
    columns: tuple[ColumnDeclaration, ...]
    time: str
    delay_us: int
    format: str
    options: Mapping[str, str]
    idle_us: int | None = None
    ahead_us: int | None = None
    own: Source | None = None
    dedup: tuple[str, ...] = ()
    match: str | None = None
    key: tuple[str, ...] = ()
    ready: str | None = None
    ttl_us: int | None = None

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])


@dataclass(frozen=True)
class SinkDeclaration:
    """A place for the results of one query, and how that is run: its options as ``dv.sql`` takes them, how often.

    Without ``checkpoint`` nothing is left of a run for the next. ``schedule``: of the queries that share its join;
    ``late_path``: the folder of the rows that do not come in, if they are diverted.
    """

    name: str
    format: str
    checkpoint: str | None
    options: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    trigger_us: int | None = None
    schedule: str = SCHEDULES[0]
    own: OwnSink | None = None
    late_path: str | None = None


def read_stream(reader: Reader, table: bool = False) -> StreamDeclaration:
    """What follows CREATE STREAM, or CREATE TABLE: that has a key, and a time if it is of versions."""
    name = reader.name(f"the name of a {'table' if table else 'stream'}")
    reader.needs("(")
    columns: list[ColumnDeclaration] = []
    watermark: tuple[str, int] | None = None
    key: tuple[str, ...] = ()
    while True:
        if reader.sees("WATERMARK", "FOR"):
            watermark = _watermark(reader, columns, watermark is not None)
        elif table and reader.takes("PRIMARY KEY"):
            key = _key(reader, columns)
        else:
            columns.append(_column(reader, columns))
        if not reader.takes(","):
            break
    if watermark is None and not table and reader.sees(")"):
        raise reader.wanted("WATERMARK FOR <time column> AS <time column> - INTERVAL '5' SECOND")
    if table and not key and reader.sees(")"):
        raise reader.wanted("PRIMARY KEY (<column>, ...), which tells the rows of a table apart")
    reader.needs(")", "WITH")
    options = read_options(reader)
    format, idle_us, ahead_us = options.needed("format"), options.duration("idle"), options.duration("ahead")
    options.refuse("delay", "WATERMARK states it, as in WATERMARK FOR ts AS ts - INTERVAL '5' SECOND")
    for other in ("dedup", "match", "idle", "ahead") if table else ("ready", "ttl"):
        options.refuse(other, f"it is for a {'stream' if table else 'table'}")
    more: dict[str, Any] = {"key": key, "ready": options.taken("ready"), "match": options.taken("match")}
    more["ttl_us"] = options.duration("ttl")
    more["dedup"] = options.read("dedup", lambda text: _names(text, columns)) or ()
    own = own_source(options, format)
    time = watermark or ("", 0)
    return StreamDeclaration(name, tuple(columns), *time, format, options.values, idle_us, ahead_us, own, **more)


def read_sink(reader: Reader, name: str) -> SinkDeclaration:
    """What follows the name of a sink and WITH."""
    options = read_options(reader)
    format, checkpoint = options.needed("format"), options.taken("checkpoint")
    if checkpoint is None and format.lower() not in _FORGETFUL:
        checkpoint = options.needed("checkpoint")
    settings, schedule = read_run_options(options), options.choice("schedule", SCHEDULES)
    late_path = read_late_path(options, settings["late"], checkpoint)
    trigger_us, own = options.duration("trigger"), own_sink(options, format)
    return SinkDeclaration(name, format, checkpoint, options.values, settings, trigger_us, schedule, own, late_path)


def _column(reader: Reader, others: list[ColumnDeclaration]) -> ColumnDeclaration:
    start, name = reader.at, reader.name("the name of a column")
    if name in [other.name for other in others]:
        raise reader.source.error(f"there are two columns {name!r}", reader.since(start))
    first = reader.at
    type = read_type(reader)
    span = reader.since(first)
    return ColumnDeclaration(name, type, reader.source.text[span.start : span.end])


def _watermark(reader: Reader, columns: list[ColumnDeclaration], second: bool) -> tuple[str, int]:
    start = reader.at
    reader.needs("WATERMARK", "FOR")
    time, place = _named(reader, columns)
    reader.needs("AS")
    again, other = _named(reader, columns)
    if again != time:
        raise reader.source.error(f"the watermark for {time} is {time} minus an interval", other)
    delay = _interval(reader) if reader.takes("-") else 0
    if second:
        raise reader.source.error("a stream has one watermark, and this is a second", reader.since(start))
    type = next(column.type for column in columns if column.name == time)
    if not pa.types.is_timestamp(type):
        raise reader.source.error(f"the time column {time!r} has type {type}, and needs TIMESTAMP", place)
    return time, delay


def _named(reader: Reader, columns: list[ColumnDeclaration], what: str = "the time column") -> tuple[str, Span]:
    start, written = reader.at, reader.name(f"the name of {what}")
    names = [column.name for column in columns]
    found = find_name(written, names)
    if found is None:
        message = f"there is no column {written!r} before this; {nearest(written, names)}"
        raise reader.source.error(message.replace("it has", "there is"), reader.since(start))
    return found, reader.since(start)


def _key(reader: Reader, columns: list[ColumnDeclaration]) -> tuple[str, ...]:
    reader.needs("(")
    key = [_named(reader, columns, "a column of the key")[0]]
    while reader.takes(","):
        key.append(_named(reader, columns, "a column of the key")[0])
    reader.needs(")")
    return tuple(key)


def _names(text: str, columns: list[ColumnDeclaration]) -> tuple[str, ...]:
    """Columns by their names, with commas between."""
    written, names = [part.strip() for part in text.split(",")], [column.name for column in columns]
    found = [find_name(each, names) for each in written]
    for each, name in zip(written, found, strict=True):
        if name is None:
            raise ValueError(f"there is no column {each!r}; {nearest(each, names).replace('it has', 'there is')}")
    return tuple(name for name in found if name is not None)


def _interval(reader: Reader) -> int:
    start = reader.at
    reader.needs("INTERVAL")
    quoted = reader.next is not None and reader.next.token_type == TokenType.STRING
    amount = reader.string("an amount") if quoted else reader.number("an amount such as '5'")
    unit = reader.name("a unit of time such as SECOND")
    try:
        return duration_us(f"{amount} {unit}")
    except (ValueError, OverflowError) as error:
        raise reader.source.error(str(error), reader.since(start)) from None
