"""A file of streams, sinks and queries becomes a ``Pipeline``.

    CREATE STREAM Temperature (...) WITH (...);
    CREATE STREAM Humidity (...) WITH (...);
    CREATE SINK alarms WITH (...);
    CREATE STREAM pairs AS SELECT ... FROM Temperature T, Humidity H WHERE ... WINDOW 1 MINUTE;
    CREATE STREAM readings AS SELECT * FROM North UNION ALL SELECT * FROM South;
    INSERT INTO alarms SELECT ... FROM pairs P, readings R WHERE ... WINDOW 1 MINUTE;

A stream AS a query has the query's results as rows, and their ``result_time`` as its time; one AS a union has the
rows of several streams with the same columns.

The options of a sink may also stand in its query: INSERT INTO alarms WITH (...) SELECT ... A query stays text, with
blanks for all that stands before it in the file, so that its mistakes are found at the lines of the file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import Token, TokenType

from dovetail.errors import QueryError, nearest
from dovetail.sql.declarations import SinkDeclaration, StreamDeclaration, read_sink, read_stream
from dovetail.sql.place import Source
from dovetail.sql.reader import Reader, span, words_of
from dovetail.sql.scope import find_name

_LINE = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Insert:
    """A query and the sink its results go to."""

    sink: SinkDeclaration
    query: str


@dataclass(frozen=True)
class Derived:
    """A stream that is made of others: of the results of a query, or of the rows of all of them (``united``)."""

    name: str
    query: str
    united: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pipeline:
    """What a pipeline file says, in its own order; a derived stream stands behind those that it is made of."""

    streams: tuple[StreamDeclaration, ...]
    inserts: tuple[Insert, ...]
    derived: tuple[Derived, ...] = ()


@dataclass
class _Draft:
    """What was read so far."""

    streams: dict[str, StreamDeclaration] = field(default_factory=dict)
    derived: dict[str, Derived] = field(default_factory=dict)
    sinks: dict[str, SinkDeclaration] = field(default_factory=dict)
    inserts: dict[str, Insert] = field(default_factory=dict)


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline that a text states; QueryError points at what is wrong with it."""
    source, draft = Source(text), _Draft()
    for words in _statements(words_of(source)):
        reader = Reader(source, words)
        if reader.takes("CREATE", "STREAM"):
            _add_stream(reader, draft)
        elif reader.takes("CREATE", "TABLE"):
            _add_declared(reader, draft, table=True)
        elif reader.takes("CREATE", "SINK"):
            _add_sink(reader, draft)
        elif reader.takes("INSERT", "INTO"):
            _add_insert(reader, draft)
        else:
            raise reader.wanted("CREATE STREAM, CREATE TABLE, CREATE SINK or INSERT INTO")
    if not draft.inserts:
        raise QueryError("the pipeline has no query; write INSERT INTO <sink> SELECT ... FROM ... WHERE ... WINDOW ...")
    return Pipeline(tuple(draft.streams.values()), tuple(draft.inserts.values()), tuple(draft.derived.values()))


def _statements(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for at, word in enumerate(words):
        if word.token_type == TokenType.SEMICOLON:
            yield from [words[start:at]] if at > start else []
            start = at + 1
    yield from [words[start:]] if start < len(words) else []


def _add_stream(reader: Reader, draft: _Draft) -> None:
    start = reader.at
    if reader.sees_after_name("AS"):
        derived = _read_derived(reader, draft)
        _check_new("stream", derived.name, {**draft.streams, **draft.derived}, reader, start)
        draft.derived[derived.name] = derived
        return
    _add_declared(reader, draft)


def _add_declared(reader: Reader, draft: _Draft, table: bool = False) -> None:
    start = reader.at
    made = read_stream(reader, table)
    _check_end(reader)
    _check_new("stream", made.name, {**draft.streams, **draft.derived}, reader, start)
    draft.streams[made.name] = made


def _read_derived(reader: Reader, draft: _Draft) -> Derived:
    name = reader.name("the name of a stream")
    reader.needs("AS")
    if not reader.sees("SELECT"):
        raise reader.wanted("SELECT")
    text = _alone(reader)
    united: list[str] = []
    if not any(word.token_type == TokenType.UNION for word in reader.words):
        return Derived(name, text)
    while True:
        reader.needs("SELECT", "*", "FROM")
        start, written = reader.at, reader.name("the name of a stream")
        found = find_name(written, draft.streams)
        if found is None:
            tail = nearest(written, draft.streams).replace("it has", "there is", 1)
            raise reader.source.error(f"UNION ALL is of declared streams; {tail}", reader.since(start))
        _check_alike(draft.streams[united[0]] if united else None, draft.streams[found], reader, start)
        united.append(found)
        if reader.next is None:
            return Derived(name, text, tuple(united))
        reader.needs("UNION", "ALL")


def _check_alike(first: StreamDeclaration | None, other: StreamDeclaration, reader: Reader, start: int) -> None:
    if other.own is not None:
        raise reader.source.error(
            f"Dovetail reads '{other.name}' by itself, and UNION ALL is of streams that Spark reads; leave out reader",
            reader.since(start),
        )
    if first is not None and (first.schema, first.time) != (other.schema, other.time):
        raise reader.source.error(
            f"'{first.name}' and '{other.name}' differ in their columns or time; UNION ALL needs the same in both",
            reader.since(start),
        )


def _add_sink(reader: Reader, draft: _Draft) -> None:
    start, name = reader.at, reader.name("the name of a sink")
    reader.needs("WITH")
    made = read_sink(reader, name)
    _check_end(reader)
    _check_new("sink", name, draft.sinks, reader, start)
    draft.sinks[name] = made


def _add_insert(reader: Reader, draft: _Draft) -> None:
    start, name = reader.at, reader.name("the name of a sink")
    if reader.takes("WITH"):
        _check_new("sink", name, draft.sinks, reader, start)
        draft.sinks[name] = read_sink(reader, name)
    found = find_name(name, draft.sinks)
    if found is None:
        tail = nearest(name, draft.sinks).replace("it has", "there is", 1)
        raise reader.source.error(f"there is no sink '{name}'; {tail}", reader.since(start))
    if found in draft.inserts:
        raise reader.source.error(f"sink '{found}' already has a query; give each its own", reader.since(start))
    if not reader.sees("SELECT") and not reader.sees("WITH"):
        raise reader.wanted("WITH (...) or SELECT")
    draft.inserts[found] = Insert(draft.sinks[found], _alone(reader))


def _alone(reader: Reader) -> str:
    """The rest of a statement where it stands, everything before it blanked out."""
    text, first, last = reader.source.text, reader.words[reader.at], reader.words[-1]
    return _LINE.sub(" ", text[: first.start]) + text[first.start : last.end + 1]


def _check_new(what: str, name: str, known: Mapping[str, object], reader: Reader, start: int) -> None:
    if find_name(name, known) is not None:
        raise reader.source.error(f"there are two declarations of {what} '{name}'", span(reader.words[start]))


def _check_end(reader: Reader) -> None:
    if reader.next is not None:
        raise reader.wanted("a semicolon")
