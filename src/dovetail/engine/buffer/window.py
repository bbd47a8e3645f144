"""The window of one stream: tuples in order of arrival, appended at the end, expired from the front.

    id      ... 90 | 91  92  93  94  95 |            ids count arrivals and never repeat
    slot         0 |  1   2   3   4   5 |            slot = id - base
                   tail               end

Tuples before ``tail`` have expired; they are overwritten when the live part moves to the front, so
expiry costs what expires and memory follows what is live.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.block import Block
from dovetail.engine.buffer.attributes import Attributes, Source, fixed_column
from dovetail.engine.buffer.columns import Column, column_for, moved, resident_part
from dovetail.engine.buffer.indexes import Indexes
from dovetail.engine.buffer.stored_times import StoredTimes
from dovetail.engine.kernels import first_at_least
from dovetail.model.stream import Stream
from dovetail.plan.physical import Attribute, Storage

Array = npt.NDArray[Any]
Times = npt.NDArray[np.int64]
_SMALLEST = 1024  # tuples: one allocation for small windows
_SPARE = 1 << 18  # tuples: below it giving memory back is not worth the copy


class Window:
    """Columns, attributes and indexes of one stream's live tuples."""

    def __init__(self, stream: Stream, storage: Storage) -> None:
        self.storage = storage
        self.base = self.tail = self.end = 0
        self._capacity = 0
        self._touched = 0  # how many slots of these arrays were ever written to, before the last move
        self.hidden = 0  # how many of the newest tuples probes do not see yet
        self._ahead = 0  # how many of them no index of a probe holds yet
        self.renewed = 0  # the first id of the last renewal
        self._columns: dict[str, Column] = {
            name: column_for(stream.schema.field(name).type) for name in storage.columns
        }
        self._times = StoredTimes(fixed_column(self._columns, stream.time) if _is_plain_time(stream) else None)
        self._attributes = Attributes(stream.name, self._columns, storage.attributes)
        self._notes: dict[str, tuple[Times, int]] = {}
        self._eligible = np.empty(0, np.bool_) if storage.keeps_all else None
        self.indexes = Indexes(storage, self._attributes)

    def __len__(self) -> int:
        return self.end - self.tail

    @property
    def nbytes(self) -> int:
        own = [numbers.data for numbers in self._attributes.derived.values()]
        own += [notes for notes, _ in self._notes.values()]
        own += [] if self._eligible is None else [self._eligible]
        arrays = sum(array.nbytes for array in own) + self._times.nbytes
        return arrays + self.indexes.nbytes + sum(column.nbytes for column in self._columns.values())

    @property
    def resident(self) -> int:
        """About how many bytes of it take memory: all that was written to, and part of what is free for more."""
        heads = self.indexes.heads_nbytes
        used = self._touched_slots / max(1, self._capacity)
        columns = self._columns.values()
        others = self.nbytes - heads - sum(column.nbytes for column in columns)
        return heads + resident_part(others, used) + sum(column.resident(used) for column in columns)

    @property
    def _touched_slots(self) -> int:
        return max(self._touched, self.end - self.base)

    def resident_with(self, more: int, row_bytes: int) -> int:
        """About how many it would be with so many more tuples, whose rows take ``row_bytes``."""
        heads = self.indexes.heads_nbytes
        slots = self.end - self.base + more
        if slots > self._capacity:
            slots = len(self) + more
            heads = self.indexes.heads_nbytes_for(slots)
        stored = (self.resident - heads) / self._touched_slots if self._touched_slots else 0
        return max(self.resident, heads + int(slots * max(stored, row_bytes / max(1, more))))

    @property
    def times(self) -> Times:
        return self._times.data

    @property
    def clock(self) -> Times:
        """The largest time up to each slot."""
        return self._times.clock

    @property
    def slack(self) -> int:
        """How far the worst stored tuple lies behind its clock."""
        return self._times.slack

    @property
    def oldest(self) -> int:
        """No tuple is older than this; the window is not empty."""
        return int(self.clock[self.tail - self.base]) - self.slack

    def attribute(self, attribute: Attribute) -> Array:
        """The attribute's numbers by slot."""
        return self._attributes[attribute].data

    def source(self, attribute: Attribute) -> Source:
        """Where ``attribute`` finds them: for whoever asks for each block."""
        return self._attributes[attribute]

    def vector_width(self, attribute: Attribute) -> int:
        """Length of the vectors stored so far; 0 if none came yet."""
        return self._attributes.vector_width(attribute)

    def keep_note(self, name: str, fill: int) -> None:
        """Keep a number per tuple that others may change, at first ``fill``."""
        self._notes[name] = np.full(self._capacity, fill, np.int64), fill

    def note(self, name: str) -> Times:
        """Those numbers by slot."""
        return self._notes[name][0]

    def drop_note(self, name: str) -> None:
        """Keep these numbers no longer."""
        del self._notes[name]

    def fill_note(self, name: str, fill: int) -> None:
        """From now on, new tuples get this number at first."""
        self._notes[name] = self._notes[name][0], fill

    def eligible(self, ids: Times) -> npt.NDArray[np.bool_] | None:
        """Which tuples can match at all; None if every stored one can."""
        return None if self._eligible is None else self._eligible[ids - self.base]

    @property
    def eligible_slots(self) -> npt.NDArray[np.bool_]:
        """By slot, which tuples can match, where others are stored too."""
        assert self._eligible is not None, "a window that keeps all tuples knows"
        return self._eligible

    def seen(self, ids: Times) -> npt.NDArray[np.bool_] | None:
        """Which tuples probes see already; None if all."""
        return ids < self.end - self.hidden if self.hidden else None

    def start_at(self, number: int) -> None:
        """Give the next tuple this id; the window is empty."""
        for column in self._columns.values():
            column.move(0, 0, self._capacity)
        self.base = self.tail = self.end = number

    @property
    def shown(self) -> int:
        """The id before which probes find tuples."""
        return self.end - self._ahead

    def append_ahead(self, block: Block) -> None:
        """Store a block whose tuples are counted already and found by probes only once they are shown."""
        self._write(block)
        self.hidden = self._ahead = len(block)
        self.indexes.count(self.base, self.shown, self.end)

    def show(self, count: int) -> tuple[int, int]:
        """So many of the tuples stored ahead come now; returns the ids of the first and of the one after the last."""
        first, last = self.shown, self.shown + count
        self.hidden -= count
        self._ahead -= count
        self.indexes.show(self.base, first, last)
        return first, last

    def append(self, block: Block) -> tuple[int, int]:
        """Store a block; returns the ids of its first tuple and of the one after its last."""
        first, last = self._write(block)
        self.indexes.insert(self.base, first, last)
        return first, last

    def _write(self, block: Block) -> tuple[int, int]:
        first, last = self.end, self.end + len(block)
        if self.lacks_room(len(block)):
            self.make_room(len(block), self.tail)
        at, stop = first - self.base, last - self.base
        for name, column in self._columns.items():
            if column is not self._times.column:
                column.append(block.columns[name], at)
        self._times.write(block.times, at, self._capacity)
        for attribute, numbers in self._attributes.derived.items():
            numbers.write(block.attributes[attribute], at, self._capacity)
        for notes, fill in self._notes.values():
            notes[at:stop] = fill
        if self._eligible is not None:
            self._eligible[at:stop] = True if block.eligible is None else block.eligible
        self._times.follow(self.tail - self.base, at, stop, block.in_order)
        self.end = last
        return first, last

    def restructure(self, storage: Storage, read: Callable[[pa.RecordBatch], Block]) -> None:
        """Keep the same tuples another way: indexes that are new are built, those no longer wanted are dropped.

        ``read`` derives from stored rows the numbers that no index or probe has needed so far.
        """
        self.storage = storage
        missing = self._attributes.change(storage.attributes)
        if len(self) and missing:
            derived = read(self.batch(self.tail, self.end)).attributes
            for attribute in missing & derived.keys():
                self._attributes.derived[attribute].write(derived[attribute], self.tail - self.base, self._capacity)
        self.indexes.change(storage, self.base, self.tail, self.shown, self.end, self._capacity)

    def expire(self, before: int) -> None:
        """Forget tuples from the front whose time is below ``before``."""
        self.forget(self.id_from(before))

    def id_from(self, time: int) -> int:
        """The id before which every tuple is older than ``time``."""
        return self.base + int(first_at_least(self.clock, self.tail - self.base, self.end - self.base, time))

    def forget(self, before: int) -> None:
        """Forget every tuple whose id is below ``before``."""
        if before > self.tail:
            self.tail = before
            self.indexes.expire(self.tail, len(self))
            if self.tail == self.end:
                self._times.reset()

    @property
    def has_spare_room(self) -> bool:
        """Whether it has far more room than its tuples need."""
        return self._capacity > max(_SPARE, 8 * len(self))

    def give_back(self, kept: int) -> None:
        """Free most of the room that tuples from id ``kept`` on do not need."""
        if self._capacity > max(_SPARE, 8 * (self.end - kept)):
            self._move(kept, (self.end - kept) * 3 // 2)

    def renew(self, ids: Times, kept: int | None = None) -> None:
        """Keep these tuples only, stored once more under new ids: ids stay consecutive, slices are written anew.

        Expired tuples from id ``kept`` on stay readable.
        """
        slots = ids - self.base
        columns = {name: column.take(slots) for name, column in self._columns.items()}
        derived = {attribute: numbers.data[slots] for attribute, numbers in self._attributes.derived.items()}
        notes = {name: values[slots] for name, (values, _) in self._notes.items()}
        block = Block(columns, self.times[slots], derived, self.eligible(ids), in_order=False)
        self.forget(self.end)
        if kept is not None and self.lacks_room(len(block)):
            self.make_room(len(block), kept)
        self.renewed, last = self.append(block)
        for name, values in notes.items():
            self.note(name)[self.renewed - self.base : last - self.base] = values

    def keep_only(self, ids: Times) -> None:
        """Forget all but these tuples, and give back the memory that is then free."""
        if len(ids):
            self.renew(ids)
        else:
            self.forget(self.end)
        self.shrink()

    def shrink(self) -> None:
        """Give back the memory that is free."""
        self._move(self.tail, len(self) * 9 // 8)

    def column(self, name: str) -> Column:
        """A stored column, by slot."""
        return self._columns[name]

    def take(self, name: str, ids: Times) -> pa.Array:
        """Values of a column for tuples anywhere in the window."""
        return self._columns[name].take(ids - self.base)

    def bytes_of(self, name: str, ids: Times) -> int:
        """About how many bytes ``take`` would gather."""
        return self._columns[name].bytes_at(ids - self.base)

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """A range of ids as Arrow, copied."""
        start, stop = first - self.base, last - self.base
        arrays = [column.slice(start, stop) for column in self._columns.values()]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._columns))

    def lacks_room(self, more: int) -> bool:
        """Whether so many more tuples do not fit behind the last one."""
        return self.end - self.base + more > self._capacity

    def make_room(self, more: int, kept: int) -> None:
        """Move tuples from id ``kept`` on to the front, so that ``more`` fit; a third stays free for what comes."""
        size = self.end - kept + more
        fits = size * 3 // 2 <= self._capacity <= size * 4
        self._move(kept, self._capacity if fits else size * 3 // 2)

    def _move(self, kept: int, capacity: int) -> None:
        """Tuples from id ``kept`` on at the front of arrays of this capacity."""
        capacity = max(_SMALLEST, capacity)
        start, stop = kept - self.base, self.end - self.base
        self._touched = self._touched_slots if capacity == self._capacity else stop - start
        for column in self._columns.values():
            column.move(start, stop, capacity)
        for numbers in self._attributes.derived.values():
            numbers.move(start, stop, capacity)
        self._times.move(start, stop, capacity)
        if self._eligible is not None:
            self._eligible = moved(self._eligible, start, stop, capacity)
        for name, (notes, fill) in self._notes.items():
            self._notes[name] = moved(notes, start, stop, capacity), fill
        self.base, self._capacity = kept, capacity
        self.indexes.move(start, stop, capacity)
        self.indexes.resize(self.base, self.tail, self.shown, self.end)


def _is_plain_time(stream: Stream) -> bool:
    return bool(pa.types.is_timestamp(stream.time_type) and stream.time_type.unit == "us")
