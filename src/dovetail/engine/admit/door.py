"""The door of one stream: what comes in, what is late, what cannot match, in which order.

    admit     rows -> NULL times, rows ahead, late rows and repeats out -> own filters -> in order of time
    prepare   the numbers that kernels compare, and the rows that can match

Each row that does not come in is counted, under the reason why. Where every row counts (a row
window) or comes out in the end (an outer join), rows that can never match come in as well, marked.
A late row is never kept in a row window: it would change counts that results have relied on.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.conform import Clock, conform, read_clock, times_us, without_null_times
from dovetail.engine.admit.derive import both, derive, numbers, valid_rows
from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.repeats import Repeats
from dovetail.engine.block.arrow_values import true_rows
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_order import places_in_order
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.stored_as import holds_nan, stored_as
from dovetail.engine.evaluate import compile_expression
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow
from dovetail.plan.physical import Attribute, Storage

Flags = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
Columns = dict[str, pa.Array]
Read = tuple[Columns, Clock]

REASONS = ("rows", "late", "ahead", "null_time", "repeated", "filtered", "unmatchable")  # what a door counts


class Kept(Protocol):
    """Where the rows of a stream will stand: what is stored of them, and how long its vectors are, if it knows."""

    storage: Storage

    def vector_width(self, attribute: Attribute) -> int: ...


@dataclass(frozen=True)
class Lateness:
    """Rows of a stream so far, how many were late, and the smallest delay with which none would have been (0: any)."""

    rows: int
    late: int
    needed_us: int


class Door:
    """Admission of one stream's rows."""

    def __init__(self, query: JoinQuery, stream: Stream, window: Kept, diverted: Diverted) -> None:
        self._stream = stream
        self._keeps_late = query.late == "keep" and not isinstance(stream.window, RowWindow)
        self._filters = [compile_expression(e) for name, e in query.filters if name == stream.name]
        # where rows that match nothing are stored
        self._keeps_failing = not query.stepwise or stream.name in query.keeping
        self._window = window
        self._diverted = diverted
        self._reads_for: Storage | None = None  # what the next line was made for
        self._reads: list[tuple[Attribute, str | None, bool]] = []
        self.repeats = Repeats(stream) if stream.dedup is not None else None
        self.counts: Counter[str] = Counter()
        self.needed_us = 0
        self.latest = BEFORE_ALL

    def read(self, rows: pa.Table | pa.RecordBatch) -> Read:
        """The rows as the stream promised them; DataError if they are not, and then nothing has happened."""
        columns = conform(self._stream, rows, self._window.storage.columns)
        return columns, read_clock(self._stream, columns[self._stream.time])

    def rows_of(self, read: Read) -> int:
        """How many rows were read, with a time or not."""
        return len(read[0][self._stream.time])

    @property
    def lateness(self) -> Lateness:
        """How many rows came and were late so far, and by how much."""
        return Lateness(self.counts["rows"], self.counts["late"], self.needed_us)

    def admit(self, read: Read, watermark: int, newest: int, farthest: int) -> tuple[Columns, Times, int | None]:
        """Columns and times of the rows that come in, in order, and the largest time seen (None: no time at all).

        ``newest``: the largest time that came before this batch. Rows beyond the time ``farthest`` lie too far ahead,
        and count as not seen.
        """
        columns, clock = read
        self.counts["rows"] += self.rows_of(read)
        columns = self._with_times(columns)
        if clock.largest > farthest:
            columns, clock = self._ahead_out(columns, clock, farthest)
        times = clock.times
        if not len(times):
            return columns, times, None
        if clock.smallest < watermark:
            self._measure(newest - clock.smallest)
            columns, times = self._late_out(columns, times, watermark)
        if len(times):
            self.latest = max(self.latest, clock.largest)
        if self.repeats is not None:
            columns, times = self._repeats_out(self.repeats, columns, times)
        if not (self._window.storage.keeps_all and self._keeps_failing):
            columns, times = self._filtered(columns, times)
        if clock.behind:
            columns, times = _in_order(columns, times)
        return columns, times, clock.largest

    def prepare(self, columns: Columns, times: Times) -> Block:
        """The admitted rows with their numbers, those that no column holds already."""
        storage = self._window.storage
        if storage is not self._reads_for:
            self._reads_for, self._reads = storage, _reads(self._stream.name, storage)
        attributes, usable = {}, self._passing(columns, len(times)) if storage.keeps_all else None
        for attribute, column, may_be_nan in self._reads:
            if column is not None:
                valid = numbers(columns[column])[1] if may_be_nan else valid_rows(columns[column])
            else:
                named, width = _named(self._stream.name, columns), self._window.vector_width(attribute)
                attributes[attribute], valid = derive(attribute, named, len(times), width)
            usable = both(usable, valid)
        if usable is None or usable.all():
            return Block(columns, times, attributes)
        if storage.keeps_all:
            return Block(columns, times, attributes, usable)
        self.counts["unmatchable"] += int((~usable).sum())
        kept = {attribute: values[usable] for attribute, values in attributes.items()}
        return Block(chosen(columns, usable), times[usable], kept)

    def stored(self, rows: pa.RecordBatch) -> Block:
        """Rows that came in before, read back from the state."""
        columns = conform(self._stream, rows, self._window.storage.columns)
        return replace(self.prepare(columns, times_us(columns[self._stream.time])), in_order=False)

    def times_of(self, rows: pa.RecordBatch) -> Times:
        """Event times of rows that came in before."""
        return times_us(rows.column(rows.schema.get_field_index(self._stream.time)))

    def _with_times(self, columns: Columns) -> Columns:
        if not columns[self._stream.time].null_count:
            return columns
        columns, lost = without_null_times(columns, self._stream.time)
        self.counts["null_time"] += len(lost[self._stream.time])
        self._diverted.add(self._stream, lost, "no time", None)
        return columns

    def _measure(self, behind_us: int) -> None:
        """Note the delay that would have kept the rows; one that is long enough was overruled by a promise."""
        if behind_us > self._stream.delay_us:
            self.needed_us = max(self.needed_us, behind_us)

    def _ahead_out(self, columns: Columns, clock: Clock, farthest: int) -> tuple[Columns, Clock]:
        ahead = clock.times > farthest
        self.counts["ahead"] += int(ahead.sum())
        self._diverted.add(self._stream, chosen(columns, ahead), "ahead", None)
        return chosen(columns, ~ahead), clock.where(~ahead)

    def _late_out(self, columns: Columns, times: Times, watermark: int) -> tuple[Columns, Times]:
        late = times < watermark
        self.counts["late"] += int(late.sum())
        if self._keeps_late:
            return columns, times
        self._diverted.add(self._stream, chosen(columns, late), "late", watermark - times[late])
        return chosen(columns, ~late), times[~late]

    def _repeats_out(self, repeats: Repeats, columns: Columns, times: Times) -> tuple[Columns, Times]:
        repeated = repeats.find(columns, times)
        if not repeated.any():
            return columns, times
        self.counts["repeated"] += int(repeated.sum())
        return chosen(columns, ~repeated), times[~repeated]

    def _filtered(self, columns: Columns, times: Times) -> tuple[Columns, Times]:
        keep = self._passing(columns, len(times))
        if keep is None or keep.all():
            return columns, times
        self.counts["filtered"] += int((~keep).sum())
        return chosen(columns, keep), times[keep]

    def _passing(self, columns: Columns, length: int) -> Flags | None:
        """Which rows satisfy the predicates on this stream alone; None: all."""
        keep: Flags | None = None
        for passes in self._filters:
            keep = both(keep, true_rows(passes(_named(self._stream.name, columns), length)))
        return keep


def _reads(stream: str, storage: Storage) -> list[tuple[Attribute, str | None, bool]]:
    """The numbers that kernels compare; with the column that holds them, and whether some there may not match."""
    return [(each, stored_as(stream, each), holds_nan(each)) for each in storage.attributes]


def _named(stream: str, columns: Mapping[str, pa.Array]) -> dict[tuple[str, str], pa.Array]:
    return {(stream, name): array for name, array in columns.items()}


def chosen(columns: Mapping[str, pa.Array], keep: Flags) -> Columns:
    """The rows for which ``keep`` is true."""
    mask = pa.array(keep)
    return {name: array.filter(mask) for name, array in columns.items()}


def _in_order(columns: Mapping[str, pa.Array], times: Times) -> tuple[Columns, Times]:
    places = places_in_order(times)
    if places is None:
        return dict(columns), times
    order = pa.array(places)
    return {name: array.take(order) for name, array in columns.items()}, times[places]
