"""The window of one stream: tuples in order of arrival, appended at the end, expired from the front.

    id      ... 90 | 91  92  93  94  95 |            ids count arrivals and never repeat
    slot         0 |  1   2   3   4   5 |            slot = id - base
                   tail               end

Tuples before ``tail`` have expired; they are overwritten when the live part moves to the front, so
expiry costs what expires and memory follows what is live. ``clock`` is the largest time up to each
arrival: sorted whatever the input, hence searchable; it is the times themselves while no tuple is
out of order. ``slack`` is how far the worst stored tuple lies behind its clock.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.block import Block
from dovetail.engine.buffer.columns import Column, FixedColumn, Numbers, column_for, moved, resident_part
from dovetail.engine.buffer.hashed import CellIndex, HashIndex
from dovetail.engine.buffer.paired import PairIndex
from dovetail.engine.buffer.ranked import SortedIndex
from dovetail.engine.buffer.stored_as import stored_as
from dovetail.engine.kernels import bounds_of, first_at_least, running_largest
from dovetail.model.stream import Stream
from dovetail.plan.physical import Attribute, Group, Pair, Ranking, Storage

Array = npt.NDArray[Any]
Times = npt.NDArray[np.int64]
_SMALLEST = 1024  # tuples: one allocation for small windows
_SPARE = 1 << 18  # tuples: below it giving memory back is not worth the copy

Chains = list[tuple[Numbers | FixedColumn, HashIndex]]


class Window:
    """Columns, attributes and indexes of one stream's live tuples."""

    def __init__(self, stream: Stream, storage: Storage) -> None:
        self.storage = storage
        self.base = self.tail = self.end = 0
        self.slack = 0
        self._capacity = 0
        self._touched = 0  # how many slots of these arrays were ever written to, before the last move
        self.hidden = 0  # how many of the newest tuples probes do not see yet
        self._ahead = 0  # how many of them no index of a probe holds yet
        self.renewed = 0  # the first id of the last renewal
        self._columns: dict[str, Column] = {
            name: column_for(stream.schema.field(name).type) for name in storage.columns
        }
        self._name = stream.name
        self._derived: dict[Attribute, Numbers] = {}
        self._sources = {attribute: self._source(stream.name, attribute) for attribute in storage.attributes}
        self._own_times = None if _is_plain_time(stream) else Numbers(np.empty(0, np.int64))
        self._times = self._own_times or self._fixed(stream.time)
        self._clock: Times | None = None
        self._notes: dict[str, tuple[Times, int]] = {}
        self._eligible = np.empty(0, np.bool_) if storage.keeps_all else None
        self.hashed = {key: HashIndex() for key in storage.hashed}
        self.celled = {cells: CellIndex(cells.width) for cells in storage.celled}
        self.ranked = {ranking: _sorted_index(ranking) for ranking in storage.sorted}
        self._chained = self._chains()

    @property
    def _counting(self) -> list[HashIndex]:
        """The indexes that tuples are counted by, not found by."""
        return [index for key, index in self.hashed.items() if isinstance(key, Group)]

    def _chains(self) -> Chains:
        chains = [(self._sources[key], index) for key, index in self.hashed.items()]
        return chains + [(self._sources[cells.number], index) for cells, index in self.celled.items()]

    def _source(self, name: str, attribute: Attribute) -> Numbers | FixedColumn:
        """Where an attribute's numbers stand: in the column that already holds them, or derived ones of their own."""
        column = stored_as(name, attribute)
        if column is not None:
            return self._fixed(column)
        self._derived[attribute] = Numbers(np.empty(0, np.int64))
        return self._derived[attribute]

    def _fixed(self, name: str) -> FixedColumn:
        column = self._columns[name]
        assert isinstance(column, FixedColumn), name
        return column

    def __len__(self) -> int:
        return self.end - self.tail

    @property
    def nbytes(self) -> int:
        own = [numbers.data for numbers in (*self._derived.values(), self._own_times) if numbers is not None]
        own += [notes for notes, _ in self._notes.values()]
        own += [array for array in (self._clock, self._eligible) if array is not None]
        arrays = sum(array.nbytes for array in own)
        indexes = sum(index.nbytes for _, index in self._chained) + sum(i.nbytes for i in self.ranked.values())
        return arrays + indexes + sum(column.nbytes for column in self._columns.values())

    @property
    def resident(self) -> int:
        """About how many bytes of it take memory: all that was written to, and part of what is free for more."""
        heads = sum(index.heads.nbytes for _, index in self._chained)
        used = self._touched_slots / max(1, self._capacity)
        columns = self._columns.values()
        others = self.nbytes - heads - sum(column.nbytes for column in columns)
        return heads + resident_part(others, used) + sum(column.resident(used) for column in columns)

    @property
    def _touched_slots(self) -> int:
        return max(self._touched, self.end - self.base)

    def resident_with(self, more: int, row_bytes: int) -> int:
        """About how many it would be with so many more tuples, whose rows take ``row_bytes``."""
        heads = sum(index.heads.nbytes for _, index in self._chained)
        slots = self.end - self.base + more
        if slots > self._capacity:
            slots = len(self) + more
            heads = sum(8 << slots.bit_length() for _ in self._chained)
        stored = (self.resident - heads) / self._touched_slots if self._touched_slots else 0
        return max(self.resident, heads + int(slots * max(stored, row_bytes / max(1, more))))

    @property
    def times(self) -> Times:
        return self._times.data

    @property
    def clock(self) -> Times:
        return self.times if self._clock is None else self._clock

    @property
    def oldest(self) -> int:
        """No tuple is older than this; the window is not empty."""
        return int(self.clock[self.tail - self.base]) - self.slack

    def attribute(self, attribute: Attribute) -> Array:
        """The attribute's numbers by slot."""
        return self._sources[attribute].data

    def source(self, attribute: Attribute) -> Numbers | FixedColumn:
        """Where ``attribute`` finds them: for whoever asks for each block."""
        return self._sources[attribute]

    def vector_width(self, attribute: Attribute) -> int:
        """Length of the vectors stored so far; 0 if none came yet."""
        known = self._derived.get(attribute)
        return known.data.shape[1] if known is not None and known.data.ndim == 2 else 0

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
        for source, index in self._chained:
            if index in self._counting:
                index.insert(source.data, self.base, self.shown, self.end)

    def show(self, count: int) -> tuple[int, int]:
        """So many of the tuples stored ahead come now; returns the ids of the first and of the one after the last."""
        first, last = self.shown, self.shown + count
        self.hidden -= count
        self._ahead -= count
        self._index(first, last, [each for each in self._chained if each[1] not in self._counting])
        return first, last

    def append(self, block: Block) -> tuple[int, int]:
        """Store a block; returns the ids of its first tuple and of the one after its last."""
        first, last = self._write(block)
        self._index(first, last, self._chained)
        return first, last

    def _write(self, block: Block) -> tuple[int, int]:
        first, last = self.end, self.end + len(block)
        if self.lacks_room(len(block)):
            self.make_room(len(block), self.tail)
        at, stop = first - self.base, last - self.base
        for name, column in self._columns.items():
            if column is self._times:
                self._times.data[at:stop] = block.times
            else:
                column.append(block.columns[name], at)
        if self._own_times is not None:
            self._own_times.write(block.times, at, self._capacity)
        for attribute, numbers in self._derived.items():
            numbers.write(block.attributes[attribute], at, self._capacity)
        for notes, fill in self._notes.values():
            notes[at:stop] = fill
        if self._eligible is not None:
            self._eligible[at:stop] = True if block.eligible is None else block.eligible
        self._follow_clock(at, stop, block.in_order)
        self.end = last
        return first, last

    def _index(self, first: int, last: int, chained: Chains) -> None:
        for source, index in chained:
            index.insert(source.data, self.base, first, last)
        for ranking, runs in self.ranked.items():
            self._rank(ranking, runs, first, last)

    def _rank(self, ranking: Ranking, runs: SortedIndex, first: int, last: int) -> None:
        if isinstance(ranking, Pair):
            assert isinstance(runs, PairIndex)
            codes, values = self.attribute(ranking.key), self.attribute(ranking.number)
            runs.insert_pairs(codes, values, self.base, first, last)
        else:
            runs.insert(self.attribute(ranking), self.base, first, last)

    def restructure(self, storage: Storage, read: Callable[[pa.RecordBatch], Block]) -> None:
        """Keep the same tuples another way: indexes that are new are built, those no longer wanted are dropped.

        ``read`` derives from stored rows the numbers that no index or probe has needed so far.
        """
        known, self.storage = self._sources, storage
        self._derived = {a: numbers for a, numbers in self._derived.items() if a in storage.attributes}
        self._sources = {a: known[a] if a in known else self._source(self._name, a) for a in storage.attributes}
        if len(self) and not self._sources.keys() <= known.keys():
            for attribute, values in read(self.batch(self.tail, self.end)).attributes.items():
                if attribute in self._derived and attribute not in known:
                    self._derived[attribute].write(values, self.tail - self.base, self._capacity)
        self._reindex(storage)

    def _reindex(self, storage: Storage) -> None:
        before = [*self.hashed.values(), *self.celled.values(), *self.ranked.values()]
        self.hashed = {key: self.hashed.get(key) or HashIndex() for key in storage.hashed}
        self.celled = {cells: self.celled.get(cells) or CellIndex(cells.width) for cells in storage.celled}
        self.ranked = {ranking: self.ranked.get(ranking) or _sorted_index(ranking) for ranking in storage.sorted}
        self._chained = self._chains()
        for source, index in self._chained:
            if index not in before:
                index.build(source.data, self.base, self.tail, self._end_of(index), self._capacity)
        for ranking, runs in self.ranked.items():
            if runs not in before and len(self):
                self._rank(ranking, runs, self.tail, self.shown)

    def _end_of(self, index: HashIndex) -> int:
        """The id before which an index holds tuples."""
        return self.end if index in self._counting else self.shown

    def _follow_clock(self, start: int, stop: int, in_order: bool) -> None:
        so_far = int(self.clock[start - 1]) if start > self.tail - self.base else int(self.times[start])
        if self._clock is None:
            if so_far <= self.times[start] and (in_order or bounds_of(self.times[start:stop])[2]):
                return
            self._clock = self.times.copy()
        running_largest(self.times, start, stop, self._clock, so_far)
        self.slack = max(self.slack, int((self._clock[start:stop] - self.times[start:stop]).max()))

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
            for index in self.ranked.values():
                index.expire(self.tail, len(self))
            if self.tail == self.end:
                self._clock, self.slack = None, 0

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
        derived = {attribute: numbers.data[slots] for attribute, numbers in self._derived.items()}
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
        for numbers in self._derived.values():
            numbers.move(start, stop, capacity)
        if self._own_times is not None:
            self._own_times.move(start, stop, capacity)
        if self._clock is not None:
            self._clock = moved(self._clock, start, stop, capacity)
        if self._eligible is not None:
            self._eligible = moved(self._eligible, start, stop, capacity)
        for name, (notes, fill) in self._notes.items():
            self._notes[name] = moved(notes, start, stop, capacity), fill
        self.base, self._capacity = kept, capacity
        for source, index in self._chained:
            index.move(start, stop, capacity)
            index.resize(source.data, self.base, self.tail, self._end_of(index))


def _sorted_index(ranking: Ranking) -> SortedIndex:
    return PairIndex() if isinstance(ranking, Pair) else SortedIndex()


def _is_plain_time(stream: Stream) -> bool:
    return bool(pa.types.is_timestamp(stream.time_type) and stream.time_type.unit == "us")
