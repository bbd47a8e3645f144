"""The columns of a window: appended at the end, forgotten from the front, gathered anywhere.

Each column keeps its live values in one contiguous piece, so that kernels and snapshots read it
without copying and a result's payload is gathered once, at the end. Positions are *slots*; the
window maps tuple ids to slots and decides when the live part moves to the front or a larger array.

    FixedColumn     numbers, times, booleans, decimals                      one NumPy array
    TextColumn      strings and binary                                      offsets and bytes
    NestedColumn    everything else Arrow can carry                         a few Arrow chunks
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.arrow_values import bare_values, bitmap, bits, is_large_text, layout, text_buffers
from dovetail.engine.kernels import append_offsets, gather_bytes, gather_offsets

Slots = npt.NDArray[np.int64]
_LITTLE = 1 << 20  # bytes that need not be counted exactly
_SPARE_RESIDENT = 0.4  # of what is free for more: fresh pages take no memory, recycled ones do
_MOST_ROOM = 3  # times what is stored, when bytes grow along with slots: a few rows in many slots would take far more


class Column(Protocol):
    """What a window asks of a column."""

    type: pa.DataType

    @property
    def nbytes(self) -> int:
        """Memory held, including what is free for more."""

    def resident(self, used: float) -> int:
        """About how many bytes of it take memory if this share of its slots was written to."""

    def append(self, array: pa.Array, at: int) -> None:
        """Write values at slots ``at`` and on; there is room."""

    def move(self, start: int, stop: int, capacity: int) -> None:
        """Keep slots start..stop-1 only, as 0.., with room for ``capacity``."""

    def take(self, slots: Slots) -> pa.Array:
        """The values at any slots, in that order."""

    def slice(self, start: int, stop: int) -> pa.Array:
        """The values of a range of slots, copied."""

    def bytes_at(self, slots: Slots) -> int:
        """About how many bytes ``take`` would copy."""


def column_for(type_: pa.DataType) -> Column:
    """The column that stores this type best."""
    if layout(type_) is not None:
        return FixedColumn(type_)
    if pa.types.is_string(type_) or pa.types.is_binary(type_) or is_large_text(type_):
        return TextColumn(type_)
    return NestedColumn(type_)


class _Validity:
    """Which slots hold a value; no array at all until the first NULL."""

    def __init__(self) -> None:
        self.flags: npt.NDArray[np.uint8] | None = None

    @property
    def nbytes(self) -> int:
        return 0 if self.flags is None else self.flags.nbytes

    def append(self, array: pa.Array, at: int, capacity: int) -> None:
        if array.null_count and self.flags is None:
            self.flags = np.ones(capacity, np.uint8)
        if self.flags is not None:
            valid = array.buffers()[0]
            self.flags[at : at + len(array)] = 1 if valid is None else bits(valid, array.offset, len(array))

    def move(self, start: int, stop: int, capacity: int) -> None:
        if self.flags is not None:
            self.flags = moved(self.flags, start, stop, capacity)

    def take(self, slots: Slots) -> pa.Buffer | None:
        return bitmap(None if self.flags is None else self.flags[slots])

    def slice(self, start: int, stop: int) -> pa.Buffer | None:
        return bitmap(None if self.flags is None else self.flags[start:stop])


def moved(array: npt.NDArray[Any], start: int, stop: int, capacity: int) -> npt.NDArray[Any]:
    """The live part at the front of an array of that capacity; the same array if it fits."""
    target = array if len(array) == capacity else np.empty((capacity, *array.shape[1:]), array.dtype)
    target[: stop - start] = array[start:stop]
    return target


def resident_part(nbytes: int, used: float) -> int:
    """About how many bytes of an array take memory if this share of it was written to.

    Which pages are fresh the process cannot tell. Free is at most half of what is used, so with two fifths of it the
    account is wrong by at most a fifth.
    """
    return int(nbytes * (used + (1 - used) * _SPARE_RESIDENT))


class Numbers:
    """Numbers per slot that are derived from the columns; ``data`` is another array after a move."""

    def __init__(self, data: npt.NDArray[Any]) -> None:
        self.data = data

    def write(self, values: npt.NDArray[Any], at: int, capacity: int) -> None:
        """Values of the slots ``at`` and on; the first ones decide type and shape."""
        if len(self.data) != capacity or self.data.shape[1:] != values.shape[1:] or self.data.dtype != values.dtype:
            self.data = np.zeros((capacity, *values.shape[1:]), values.dtype)
        self.data[at : at + len(values)] = values

    def move(self, start: int, stop: int, capacity: int) -> None:
        self.data = moved(self.data, start, stop, capacity)


class FixedColumn:
    """Values of one width in one NumPy array."""

    def __init__(self, type_: pa.DataType) -> None:
        found = layout(type_)
        assert found is not None, f"{type_} has no fixed width"
        self.type = type_
        self._dtype, self._width = found
        self.row_bytes = found[0].itemsize * found[1]
        self._is_boolean = pa.types.is_boolean(type_)
        self.data: npt.NDArray[Any] = np.empty(0 if found[1] == 1 else (0, found[1]), found[0])
        self._validity = _Validity()

    @property
    def nbytes(self) -> int:
        return self.data.nbytes + self._validity.nbytes

    def resident(self, used: float) -> int:
        return resident_part(self.nbytes, used)

    def append(self, array: pa.Array, at: int) -> None:
        self.data[at : at + len(array)] = bare_values(array, self._is_boolean, self._dtype, self._width)
        self._validity.append(array, at, len(self.data))

    def move(self, start: int, stop: int, capacity: int) -> None:
        self.data = moved(self.data, start, stop, capacity)
        self._validity.move(start, stop, capacity)

    def take(self, slots: Slots) -> pa.Array:
        valid = None if self._validity.flags is None else self._validity.take(slots)
        return self._arrow(self.data.take(slots, axis=0), valid)

    def slice(self, start: int, stop: int) -> pa.Array:
        return self._arrow(self.data[start:stop].copy(), self._validity.slice(start, stop))

    def bytes_at(self, slots: Slots) -> int:
        return len(slots) * self.row_bytes

    def _arrow(self, data: npt.NDArray[Any], valid: pa.Buffer | None) -> pa.Array:
        nulls = 0 if valid is None else -1
        if self._is_boolean:
            return pa.Array.from_buffers(self.type, len(data), [valid, bitmap(data.view(np.uint8))], nulls)
        return pa.Array.from_buffers(self.type, len(data), [valid, pa.py_buffer(data)], nulls)


class TextColumn:
    """Strings or binary: absolute offsets that only grow, and the bytes from ``origin`` on."""

    def __init__(self, type_: pa.DataType) -> None:
        self.type = type_
        self._is_large = is_large_text(type_)
        self._offsets = np.zeros(1, np.int64)
        self._bytes = np.empty(0, np.uint8)
        self._origin = 0
        self._filled = 0  # bytes that hold strings
        self._longest = 0  # of all strings that ever came
        self._validity = _Validity()

    @property
    def nbytes(self) -> int:
        return self._offsets.nbytes + self._bytes.nbytes + self._validity.nbytes

    def resident(self, used: float) -> int:
        """Bytes fill up at another pace than slots."""
        filled = self._filled / max(1, len(self._bytes))
        return resident_part(self._offsets.nbytes + self._validity.nbytes, used) + resident_part(
            self._bytes.nbytes, filled
        )

    def append(self, array: pa.Array, at: int) -> None:
        offsets, data = text_buffers(array)
        first, end = int(self._offsets[at]), int(self._offsets[at]) + int(offsets[-1] - offsets[0])
        self._make_room(at, end)
        self._bytes[first - self._origin : end - self._origin] = data[offsets[0] : offsets[-1]]
        self._filled = end - self._origin
        self._longest = max(self._longest, append_offsets(offsets, first, self._offsets, at))
        self._validity.append(array, at, len(self._offsets) - 1)

    def _make_room(self, at: int, end: int) -> None:
        if end - self._origin > len(self._bytes):
            grown = np.empty(max(1024, (end - self._origin) * 3 // 2), np.uint8)
            used = int(self._offsets[at]) - self._origin
            grown[:used] = self._bytes[:used]
            self._bytes = grown

    def move(self, start: int, stop: int, capacity: int) -> None:
        first, end = int(self._offsets[start]), int(self._offsets[stop])
        live = self._bytes[first - self._origin : end - self._origin]
        room = min(_MOST_ROOM, max(1.125, capacity / max(1, stop - start)))
        self._bytes = moved(live, 0, len(live), max(int(len(live) * room), 1))
        self._origin, self._filled = first, len(live)
        self._offsets = moved(self._offsets, start, stop + 1, capacity + 1)
        self._validity.move(start, stop, capacity)

    def take(self, slots: Slots) -> pa.Array:
        positions = np.empty(len(slots) + 1, np.int64)
        out = np.empty(gather_offsets(self._offsets, slots, positions), np.uint8)
        gather_bytes(self._offsets, self._bytes, slots, self._origin, positions, out)
        return self._arrow(positions, out, self._validity.take(slots))

    def slice(self, start: int, stop: int) -> pa.Array:
        positions = self._offsets[start : stop + 1] - self._offsets[start]
        first = int(self._offsets[start]) - self._origin
        data = self._bytes[first : first + int(positions[-1])].copy()
        return self._arrow(positions, data, self._validity.slice(start, stop))

    def bytes_at(self, slots: Slots) -> int:
        most = len(slots) * self._longest
        return most if most < _LITTLE else int((self._offsets[slots + 1] - self._offsets[slots]).sum())

    def _arrow(self, positions: Slots, data: npt.NDArray[np.uint8], valid: pa.Buffer | None) -> pa.Array:
        offsets = positions if self._is_large else positions.astype(np.int32)
        buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(self.type, len(positions) - 1, buffers, 0 if valid is None else -1)


class NestedColumn:
    """Lists, structs, maps and the rest: Arrow chunks, merged so that there are few of them."""

    def __init__(self, type_: pa.DataType) -> None:
        self.type = type_
        self._chunks: list[pa.Array] = []

    @property
    def nbytes(self) -> int:
        return sum(chunk.nbytes for chunk in self._chunks)

    def resident(self, used: float) -> int:
        """Nothing is free for more."""
        return self.nbytes

    def append(self, array: pa.Array, at: int) -> None:
        self._chunks.append(array)
        while len(self._chunks) > 1 and len(self._chunks[-2]) < 2 * len(self._chunks[-1]):
            self._chunks[-2:] = [pa.concat_arrays(self._chunks[-2:])]

    def move(self, start: int, stop: int, capacity: int) -> None:
        if stop > start:
            self._chunks = [self.slice(start, stop)]
        else:
            self._chunks = []

    def take(self, slots: Slots) -> pa.Array:
        if len(self._chunks) == 1:
            return self._chunks[0].take(pa.array(slots))
        parts, order, first = [], [], 0
        for chunk in self._chunks:
            inside = np.flatnonzero((slots >= first) & (slots < first + len(chunk)))
            parts.append(chunk.take(pa.array(slots[inside] - first)))
            order.append(inside)
            first += len(chunk)
        if not parts:
            return pa.array([], self.type)
        back = np.argsort(np.concatenate(order), kind="stable")
        return pc.take(pa.concat_arrays(parts), pa.array(back))

    def slice(self, start: int, stop: int) -> pa.Array:
        sliced = pa.chunked_array(self._chunks, self.type).slice(start, stop - start)
        return pa.concat_arrays(sliced.chunks) if sliced.num_chunks else pa.array([], self.type)

    def bytes_at(self, slots: Slots) -> int:
        stored = sum(map(len, self._chunks))
        return len(slots) * self.nbytes // stored if stored else 0
