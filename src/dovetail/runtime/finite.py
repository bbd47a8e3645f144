"""Inputs that come to an end, as pushes: tables at once, files piece by piece in the order of their times.

Files are cut between two of them where the later one begins no earlier than all before it have ended, so that no row is
late behind another. Files that do not tell their times are read together.

Of an inner join over windows of time, row groups too far from all rows of another stream are not read at all:

    A   09:00 .. 10:00   10:00 .. 11:00   11:00 .. 12:00       window of A: 5 minutes, of B: none
    B                                     11:02 .. 11:20       only A's last row group can have partners
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.operator.contract import Operator
from dovetail.errors import DataError
from dovetail.model.files import Files
from dovetail.model.kafka import Kafka
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.runtime.files.feed import all_files
from dovetail.runtime.files.listing import Known, span
from dovetail.runtime.files.order import together
from dovetail.runtime.files.table import table_of
from dovetail.runtime.rows import as_table

Pushes = Iterator[dict[str, pa.Table | pa.RecordBatch]]
Spans = npt.NDArray[np.int64]


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
    joined = _reach(query, files) if query is not None else {}
    groups = [(group, stream) for stream in own for group in together(files[stream.name])]
    for group, stream in sorted(groups, key=lambda pair: span([file.times for file in pair[0]]) or (0, 0)):
        wanted = columns[stream.name] if columns is not None else stream.schema.names
        near = joined.get(stream.name)
        pieces = [(file, near.groups(file) if near is not None else None) for file in group]
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


class Near:
    """Which row groups of one stream lie near enough to some rows of every other stream."""

    def __init__(self, others: Sequence[tuple[Spans, int, int]]) -> None:
        self._others = others

    def groups(self, file: Known) -> list[int] | None:
        """The numbers of those of a file; None for all."""
        if file.groups is None:
            return None
        return [number for number, group in enumerate(file.groups) if group.times is None or self._meets(*group.times)]

    def _meets(self, first: int, last: int) -> bool:
        return all(
            bool(((spans[:, 0] <= last + own_us) & (spans[:, 1] >= first - other_us)).any())
            for spans, own_us, other_us in self._others
        )


def _reach(query: JoinQuery, files: Mapping[str, Sequence[Known]]) -> dict[str, Near]:
    """What each stream's row groups must meet; nothing where rows count that have no partner."""
    windows = {stream.name: stream.window for stream in query.streams}
    if query.how != "inner" or not all(isinstance(window, TimeWindow) for window in windows.values()):
        return {}
    lengths = {name: window.length_us for name, window in windows.items() if isinstance(window, TimeWindow)}
    spans = {name: found for name, known in files.items() if (found := _spans(known)) is not None}
    return {
        name: Near([(spans[other], lengths[name], lengths[other]) for other in spans if other != name])
        for name in files
    }


def _spans(files: Sequence[Known]) -> Spans | None:
    """The times of all row groups; None if some do not tell."""
    times = [group.times for file in files for group in file.groups or () if group.rows]
    if any(file.groups is None for file in files) or None in times:
        return None
    return np.array(times, np.int64).reshape(-1, 2)
