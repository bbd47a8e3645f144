"""Keys as small numbers: equal keys have one slot, and different keys never share one.

Codes of 64 bits are looked up in a table with open addressing. Where a code is a hash, the key that a slot was made for
is kept and compared; a key that finds its place taken by another goes on with a code made from its own:

    "x" code 7   slot 0        "y" code 7   taken by "x": code of (7, 1)   slot 1
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.arrow_values import true_rows
from dovetail.engine.buffer.columns import Column, column_for, moved
from dovetail.engine.kernels import combine_codes
from dovetail.engine.kernels.asof import find_slots

Codes = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int32]
_SMALLEST = 64  # slots: one allocation for few keys


class SlotTable:
    """The slots of one stream's keys; ``types`` are those of keys that must be compared, none if codes are exact."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = types
        self._clear()

    def _clear(self) -> None:
        self.count = 0
        self._codes = np.empty(0, np.int64)
        self._origin = np.empty(0, np.int64)
        self._table = np.full(_SMALLEST, -1, np.int32)
        self._keys: list[Column] = [column_for(type_) for type_ in self._types]

    @property
    def nbytes(self) -> int:
        own = self._codes.nbytes + self._origin.nbytes + self._table.nbytes
        return own + sum(column.nbytes for column in self._keys)

    def of(self, codes: Codes, keys: Sequence[pa.Array], adds: bool) -> Slots:
        """The slot of each key, -1 if it has none; with ``adds`` every key gets one."""
        slots = np.empty(len(codes), np.int32)
        self._find(codes, codes, keys, adds, slots)
        return slots

    def _find(self, codes: Codes, origin: Codes, keys: Sequence[pa.Array], adds: bool, slots: Slots) -> None:
        if adds:
            self._make_room(len(codes))
        before = self.count
        shift = 64 - (len(self._table).bit_length() - 1)
        self.count = find_slots(np.ascontiguousarray(codes), self._table, shift, self._codes, before, adds, slots)
        if not self._types:
            return
        self._keep_new(before, origin, keys, slots)
        other = self._others(keys, slots)
        if len(other):
            rest = np.empty(len(other), np.int32)
            again = combine_codes(codes[other], np.ones(len(other), np.int64))
            self._find(again, origin[other], [key.take(pa.array(other)) for key in keys], adds, rest)
            slots[other] = rest

    def _keep_new(self, before: int, origin: Codes, keys: Sequence[pa.Array], slots: Slots) -> None:
        """The keys that new slots were made for: of each the first row, in order of slots."""
        if self.count > before:
            rows = np.flatnonzero(slots >= before)
            firsts = rows[np.unique(slots[rows], return_index=True)[1]]
            self._origin[before : self.count] = origin[firsts]
            for column, key in zip(self._keys, keys, strict=True):
                column.append(key.take(pa.array(firsts)), before)

    def _others(self, keys: Sequence[pa.Array], slots: Slots) -> npt.NDArray[np.int64]:
        """The rows whose slot belongs to another key."""
        there = np.flatnonzero(slots >= 0)
        same = np.ones(len(there), np.bool_)
        for column, key in zip(self._keys, keys, strict=True):
            stored = column.take(slots[there].astype(np.int64))
            same &= true_rows(pc.equal(stored, key if len(there) == len(slots) else key.take(pa.array(there))))
        return there[~same]

    def _make_room(self, more: int) -> None:
        needed = self.count + more
        if needed > len(self._codes):
            capacity = max(_SMALLEST, needed * 5 // 4)
            self._codes = moved(self._codes, 0, self.count, capacity)
            if self._types:
                self._origin = moved(self._origin, 0, self.count, capacity)
                for column in self._keys:
                    column.move(0, self.count, capacity)
        if needed * 3 > len(self._table) * 2:
            self._table = np.full(1 << (needed * 3 // 2).bit_length(), -1, np.int32)
            known, again = self._codes[: self.count].copy(), np.empty(self.count, np.int32)
            find_slots(known, self._table, 64 - (len(self._table).bit_length() - 1), self._codes, 0, True, again)

    def keep(self, used: npt.NDArray[np.int64]) -> None:
        """Only these slots, under new numbers: 0, 1, ... in the order given."""
        codes = (self._origin if self._types else self._codes)[used]
        keys = [column.take(used) for column in self._keys]
        self._clear()
        self.of(codes, keys, adds=True)
