"""The declarations of a pipeline file: where rows come from and where results go.

    CREATE STREAM Temperature (
        location STRING, value DOUBLE, ts TIMESTAMP,
        WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
    ) WITH (format = 'parquet', path = 'in/temperature')

    CREATE SINK alarms WITH (format = 'parquet', path = 'out/alarms', checkpoint = 'out/alarms.checkpoint')

WATERMARK names the column that is the event time, and by how much rows may come late. Every option but ``format`` and
``checkpoint`` is handed to the Spark source or sink as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import TokenType

from dovetail.errors import nearest
from dovetail.model.duration import duration_us
from dovetail.sql.place import Span
from dovetail.sql.reader import Reader
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
    """A stream to be read: its columns, its time column, how late rows may be, and the source."""

    name: str
    columns: tuple[ColumnDeclaration, ...]
    time: str
    delay_us: int
    format: str
    options: Mapping[str, str]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])


@dataclass(frozen=True)
class SinkDeclaration:
    """A place for the results of one query; without ``checkpoint`` nothing is left of a run for the next."""

    name: str
    format: str
    checkpoint: str | None
    options: Mapping[str, str]


def read_stream(reader: Reader) -> StreamDeclaration:
    """What follows CREATE STREAM."""
    name = reader.name("the name of a stream")
    reader.needs("(")
    columns: list[ColumnDeclaration] = []
    watermark: tuple[str, int] | None = None
    while True:
        if reader.sees("WATERMARK", "FOR"):
            watermark = _watermark(reader, columns, watermark is not None)
        else:
            columns.append(_column(reader, columns))
        if not reader.takes(","):
            break
    if watermark is None and reader.sees(")"):
        raise reader.wanted("WATERMARK FOR <time column> AS <time column> - INTERVAL '5' SECOND")
    reader.needs(")", "WITH")
    assert watermark is not None
    options = read_options(reader)
    return StreamDeclaration(name, tuple(columns), *watermark, _taken(options, "format", reader), options)


def read_sink(reader: Reader, name: str) -> SinkDeclaration:
    """What follows the name of a sink and WITH."""
    options = read_options(reader)
    format = _taken(options, "format", reader)
    forgets = format.lower() in _FORGETFUL and find_name("checkpoint", options) is None
    checkpoint = None if forgets else _taken(options, "checkpoint", reader)
    return SinkDeclaration(name, format, checkpoint, options)


def read_options(reader: Reader) -> dict[str, str]:
    """Options in parentheses: names, or texts in quotes, each with its value."""
    reader.needs("(")
    options: dict[str, str] = {}
    while True:
        start = reader.at
        quoted = reader.next is not None and reader.next.token_type == TokenType.STRING
        key = reader.string("an option") if quoted else reader.name("an option such as format = 'parquet'")
        if key.lower() in map(str.lower, options):
            raise reader.source.error(f"option {key!r} is given a second time", reader.since(start))
        reader.needs("=")
        options[key] = _value(reader)
        if not reader.takes(","):
            break
    reader.needs(")")
    return options


def _value(reader: Reader) -> str:
    if reader.next is not None and reader.next.token_type == TokenType.NUMBER:
        return reader.number("a value")
    for word in ("TRUE", "FALSE"):
        if reader.takes(word):
            return word.lower()
    return reader.string("a value in single quotes")


def _taken(options: dict[str, str], name: str, reader: Reader) -> str:
    """Take an option that must be there out of the others."""
    found = find_name(name, options)
    if found is None:
        raise reader.source.error(f"the options need {name} = '...'", reader.since(reader.at - 1))
    return options.pop(found)


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
    time, place = _time_column(reader, columns)
    reader.needs("AS")
    again, other = _time_column(reader, columns)
    if again != time:
        raise reader.source.error(f"the watermark for {time} is {time} minus an interval", other)
    delay = _interval(reader) if reader.takes("-") else 0
    if second:
        raise reader.source.error("a stream has one watermark, and this is a second", reader.since(start))
    type = next(column.type for column in columns if column.name == time)
    if not pa.types.is_timestamp(type):
        raise reader.source.error(f"the time column {time!r} has type {type}, and needs TIMESTAMP", place)
    return time, delay


def _time_column(reader: Reader, columns: list[ColumnDeclaration]) -> tuple[str, Span]:
    start, written = reader.at, reader.name("the name of the time column")
    names = [column.name for column in columns]
    found = find_name(written, names)
    if found is None:
        message = f"there is no column {written!r} before this; {nearest(written, names)}"
        raise reader.source.error(message.replace("it has", "there is"), reader.since(start))
    return found, reader.since(start)


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
