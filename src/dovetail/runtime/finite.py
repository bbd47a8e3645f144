"""Inputs that come to an end, as pushes: tables at once, files piece by piece in the order of their times.

Files are cut between two of them where the later one begins no earlier than all before it have ended, so that no row is
late behind another. Files that do not tell their times are read together.

Row groups that cannot have partners are not read at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.operator.contract import Operator
from dovetail.errors import DataError
from dovetail.model.files import Files
from dovetail.model.kafka import Kafka
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.plan.leave_unread import leave_unread
from dovetail.runtime.files.feed import all_files
from dovetail.runtime.files.listing import Known, span
from dovetail.runtime.files.near import Near, near
from dovetail.runtime.files.order import together
from dovetail.runtime.files.table import table_of
from dovetail.runtime.rows import as_table

Pushes = Iterator[dict[str, pa.Table | pa.RecordBatch]]


def pushes_of(
    streams: Sequence[Stream], columns: Mapping[str, Sequence[str]] | None = None, query: JoinQuery | None = None
) -> Pushes:
    """The data that streams were made with, in pushes; of files only some ``columns``, and what ``query`` can join."""
    missing = next((stream.name for stream in streams if stream.data is None), None)
    if missing is not None:
        raise DataError(f"collect: stream {missing!r} has no data; give it some, or push rows to query.local()")
    endless = next((stream.name for stream in streams if isinstance(stream.data, Kafka)), None)
    if endless is not None:
        raise DataError(f"collect: stream {endless!r} reads a topic, which has no end; run it on Spark")
    yield {stream.name: as_table(stream, stream.data) for stream in streams if not isinstance(stream.data, Files)}
    own = [stream for stream in streams if isinstance(stream.data, Files)]
    files = {stream.name: all_files(stream.data, stream.time) for stream in own}
    joined = _joined(query, files) if query is not None else {}
    groups = [(group, stream) for stream in own for group in together(files[stream.name])]
    for group, stream in sorted(groups, key=lambda pair: span([file.times for file in pair[0]]) or (0, 0)):
        wanted = columns[stream.name] if columns is not None else stream.schema.names
        pieces = [(file, _groups(file, joined.get(stream.name))) for file in group]
        yield {stream.name: table_of(stream, stream.data, pieces, wanted)}


def load_tables(
    operator: Operator, streams: Sequence[Stream], columns: Mapping[str, Sequence[str]] | None = None
) -> list[Stream]:
    """Push the tables among the streams that have their data, all of them; the streams that are left."""
    tables = [each for each in streams if each.table is not None and _is_finite(each.data)]
    for table in tables:
        for push in pushes_of([table], columns):
            assert not list(operator.push(push)), "nothing has come yet that a table could answer"
        assert not list(operator.advance(table.name, AFTER_ALL))
    return [stream for stream in streams if stream not in tables]


def _is_finite(data: Any) -> bool:
    return isinstance(data, Files | pa.Table | pa.RecordBatch)


def _joined(query: JoinQuery, files: Mapping[str, Sequence[Known]]) -> dict[str, Near]:
    """What row groups of each stream must meet in others; files that do not tell their times may have any."""
    spans = {name: times for name, known in files.items() if (times := _spans(known)) is not None}
    return near(leave_unread(query), spans)


def _spans(files: Sequence[Known]) -> list[tuple[int, int]] | None:
    times = [group.times for file in files for group in file.groups or () if group.rows]
    told = [each for each in times if each is not None]
    return told if len(told) == len(times) and all(file.groups is not None for file in files) else None


def _groups(file: Known, partners: Near | None) -> list[int] | None:
    """The row groups of a file that may have partners; None for all."""
    if partners is None or file.groups is None:
        return None
    return [at for at, group in enumerate(file.groups) if group.times is None or partners.meets(*group.times)]
