"""Rows of a stream that came before: an id and a time of each row that stayed, for as long as it can be repeated.

    id 7 at 10 s stays        id 7 at 12 s, within 5 s     a repeat
    id 8 at 12 s stays        id 7 at 16 s                 stays: 10 s is too far away, and that of 12 s did not stay

Ids and times are a pile, and as such a part of the state; what finds them is rebuilt from it. The id is all columns
that are compared. NULL is like NULL there, and NaN like NaN; but a row whose own id has a NULL repeats nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.admit.conform import times_us
from dovetail.engine.admit.derive import derive, valid_rows
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.slots import SlotTable
from dovetail.engine.kernels.repeats import mark_repeats
from dovetail.model.expression import Column
from dovetail.model.stream import Stream
from dovetail.plan.physical import Group

Flags = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
_FEW = 1 << 12  # remembered rows that are not worth being cleared away


class Repeats(Pile):
    """What is remembered of one stream's rows."""

    def __init__(self, stream: Stream) -> None:
        assert stream.dedup is not None
        assert stream.dedup.within_us is not None
        super().__init__(f"dedup/{stream.name}", self._times_in, BEFORE_ALL)
        self._stream, self._ids, self._within = stream, stream.dedup.columns, stream.dedup.within_us
        fields = [stream.schema.field(name) for name in stream.dedup.compared]
        self._group = Group(tuple(Column(stream.name, field.name, field.type) for field in fields))
        self._types = [pa.int64(), *(field.type for field in fields)]
        self._kept = tuple(dict.fromkeys([stream.time, *stream.dedup.compared]))
        self._index()

    def _times_in(self, rows: pa.RecordBatch) -> Times:
        return times_us(rows.column(self._stream.time))

    def _index(self) -> None:
        """Begin to find what is remembered from nothing."""
        self._slots = SlotTable(self._types)
        self._heads, self._before = np.empty(0, np.int32), np.empty(0, np.int32)
        self._times = np.empty(0, np.int64)
        self._count = 0
        self._known = False

    @property
    def nbytes(self) -> int:
        own = self._heads.nbytes + self._before.nbytes + self._times.nbytes
        return super().nbytes + self._slots.nbytes + own

    def find(self, columns: Mapping[str, pa.Array], times: Times) -> Flags:
        """Which of these rows, in order of arrival, are repeats; the others are remembered."""
        if not self._known or self._count > 2 * len(self) + _FEW:
            self._rebuild()
        repeated = self._mark(columns, times)
        stay = ~repeated & self._has_id(columns, len(times))
        rows = pa.RecordBatch.from_arrays([columns[name] for name in self._kept], names=list(self._kept))
        self.add(rows if stay.all() else rows.filter(pa.array(stay)))
        return repeated

    def forget(self, frontier: int) -> None:
        """No stream will send anything older than this."""
        if self and self.earliest(frontier) < frontier - self._within:
            self.release(frontier - self._within - 1)

    def restore(self, header: dict[str, Any]) -> None:
        super().restore(header)
        self._known = False

    def _rebuild(self) -> None:
        self._index()
        self._known = True
        for _, rows in sorted(self.state().items()):
            columns = dict(zip(rows.schema.names, rows.columns, strict=True))
            self._mark(columns, self._times_in(rows))

    def _mark(self, columns: Mapping[str, pa.Array], times: Times) -> Flags:
        length = len(times)
        named = {(self._stream.name, name): columns[name] for name in self._kept}
        slots = np.full(length, -1, np.int32)
        rows = np.flatnonzero(self._has_id(columns, length))
        if len(rows):
            codes, _ = derive(self._group, named, length)
            keys = _comparable([columns[column.name] for column in self._columns])
            if len(rows) < length:
                keys = [key.take(pa.array(rows)) for key in keys]
            slots[rows] = self._slots.of(codes[rows], keys, adds=True)
        self._make_room(length)
        repeated = np.zeros(length, np.bool_)
        remembered = self._heads, self._times, self._before, self._count
        self._count = mark_repeats(slots, np.ascontiguousarray(times), self._within, *remembered, repeated)
        return repeated

    @property
    def _columns(self) -> list[Column]:
        return [each for each in self._group.expressions if isinstance(each, Column)]

    def _has_id(self, columns: Mapping[str, pa.Array], length: int) -> Flags:
        has = np.ones(length, np.bool_)
        for name in self._ids:
            valid = valid_rows(columns[name])
            has = has if valid is None else has & valid
        return has

    def _make_room(self, more: int) -> None:
        self._heads = _larger(self._heads, self._slots.count, -1)
        self._times = _larger(self._times, self._count + more, 0)
        self._before = _larger(self._before, self._count + more, -1)


def _larger(array: npt.NDArray[Any], needed: int, fill: int) -> npt.NDArray[Any]:
    if needed <= len(array):
        return array
    larger = np.full(needed * 5 // 4 + 64, fill, array.dtype)
    larger[: len(array)] = array
    return larger


def _comparable(columns: list[pa.Array]) -> list[pa.Array]:
    """The same values without NULL and NaN, and before them which were NULL or NaN, as one number per row."""
    kinds = np.zeros(len(columns[0]), np.int64)
    values = []
    for column in columns:
        kinds *= 3
        valid = valid_rows(column)
        if valid is not None:
            kinds += ~valid
            column = column.fill_null(_zero(column.type))
        if pa.types.is_floating(column.type):
            odd = pc.is_nan(column)
            kinds += 2 * np.asarray(odd.to_numpy(zero_copy_only=False), np.int64)
            column = pc.if_else(odd, pa.scalar(0, column.type), column)
        values.append(column)
    return [pa.array(kinds), *values]


def _zero(type_: pa.DataType) -> pa.Scalar:
    """A value that stands where there is none: nothing but zero bytes."""
    nothing = pa.py_buffer(bytes(64))
    return pa.Array.from_buffers(type_, 1, [None, *[nothing] * (type_.num_buffers - 1)])[0]
