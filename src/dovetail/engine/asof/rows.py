"""The stored rows of one as-of stream, in order of time: columns, and the chains that tie those of a key together."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.buffer.columns import column_for, moved

Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
_SMALLEST = 64  # rows: one allocation for small streams


class StoredRows:
    """Rows 0 to ``size`` - 1; ``gone`` marks those that can be no answer any more."""

    def __init__(self, schema: pa.Schema, names: Sequence[str]) -> None:
        self._columns = {name: column_for(schema.field(name).type) for name in names}
        self.size = 0
        self._capacity = 0
        self.times = np.empty(0, np.int64)
        self.slots, self.before, self.shortcut, self.depth = (np.empty(0, np.int32) for _ in range(4))
        self.gone = np.empty(0, np.bool_)

    @property
    def nbytes(self) -> int:
        own = (self.times, self.slots, self.before, self.shortcut, self.depth, self.gone)
        return sum(array.nbytes for array in own) + sum(column.nbytes for column in self._columns.values())

    def append(self, columns: Mapping[str, pa.Array], times: Integers, slots: Small) -> None:
        """Rows that are not before those stored; their chains are made later."""
        first, last = self.size, self.size + len(times)
        if last > self._capacity:
            self._move(max(_SMALLEST, last * 5 // 4))
        for name, column in self._columns.items():
            column.append(columns[name], first)
        self.times[first:last], self.slots[first:last], self.gone[first:last] = times, slots, False
        self.size = last

    def _move(self, capacity: int) -> None:
        for column in self._columns.values():
            column.move(0, self.size, capacity)
        self.times = moved(self.times, 0, self.size, capacity)
        self.slots = moved(self.slots, 0, self.size, capacity)
        self.before = moved(self.before, 0, self.size, capacity)
        self.shortcut = moved(self.shortcut, 0, self.size, capacity)
        self.depth = moved(self.depth, 0, self.size, capacity)
        self.gone = moved(self.gone, 0, self.size, capacity)
        self._capacity = capacity

    def keep(self, rows: Integers) -> None:
        """Only these rows, in this order."""
        columns = {name: column.take(rows) for name, column in self._columns.items()}
        times, slots = self.times[rows], self.slots[rows]
        self.size = self._capacity = 0
        for column in self._columns.values():
            column.move(0, 0, 0)
        self.append(columns, times, slots)

    def take(self, name: str, rows: Integers) -> pa.Array:
        """Values of a column; NULL for row -1."""
        if not self.size:
            return pa.nulls(len(rows), self._columns[name].type)
        there = rows >= 0
        if there.all():
            return self._columns[name].take(rows)
        values = self._columns[name].take(np.maximum(rows, 0))
        return pc.if_else(pa.array(there), values, pa.scalar(None, values.type))

    def taken(self, rows: Integers) -> pa.RecordBatch:
        """Some rows as Arrow, copied."""
        return pa.RecordBatch.from_arrays([column.take(rows) for column in self._columns.values()], list(self._columns))

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """A range of rows as Arrow, copied."""
        arrays = [column.slice(first, last) for column in self._columns.values()]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._columns))
