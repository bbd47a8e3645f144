"""The rows of one as-of stream in chains, one per key, the newest row first.

Rows come in order of time. Those before ``linked`` stand in their chains already; the others follow when they are
first searched, together with the rows that ask for them.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.asof.rows import StoredRows
from dovetail.engine.buffer.columns import moved
from dovetail.engine.buffer.slots import SlotTable
from dovetail.engine.kernels.asof import (
    answer_backward,
    chain_rows,
    find_backward,
    find_between,
    find_forward,
    give_way,
)

Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
_PAIRS = 1 << 18  # candidates that are looked at together
_FEW = 1 << 10  # rows that are not worth being cleared away


class Chains:
    """Stored rows, the slots of their keys, and the newest row of each slot."""

    def __init__(self, rows: StoredRows, slots: SlotTable) -> None:
        self.rows = rows
        self.slots = slots
        self.cleared = 0  # how many times rows have been renumbered
        self._heads = np.empty(0, np.int32)
        self._restart()

    def _restart(self) -> None:
        self._heads[:] = -1
        self._linked = 0
        self._swept = self._expired = 0  # rows before these were asked whether they are gone
        self.gone = 0
        self._pinned = 0

    @property
    def stored(self) -> int:
        """How many rows are not gone."""
        return self.rows.size - self.gone

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.slots.nbytes + self._heads.nbytes

    def append(self, columns: Mapping[str, pa.Array], times: Integers, slots: Small) -> None:
        """Rows that are not before those stored."""
        self.rows.append(columns, times, slots)

    def link(self) -> None:
        """Put all rows into their chains."""
        rows = self.rows
        if self._linked < rows.size:
            self._reach()
            chain_rows(rows.slots, self._linked, rows.size, self._heads, rows.before, rows.shortcut, rows.depth)
            self._linked = rows.size

    def _reach(self) -> None:
        """Every slot has a head."""
        known = len(self._heads)
        if self.slots.count > known:
            self._heads = moved(self._heads, 0, known, self.slots.count * 5 // 4 + 1)
            self._heads[known:] = -1

    @property
    def _arrays(self) -> tuple[Integers, Small, Small, Small, Small]:
        rows = self.rows
        return rows.times, self._heads, rows.before, rows.shortcut, rows.depth

    def last_until(self, slots: Small, until: Integers) -> Integers:
        """The last row of each slot that is not after a time, -1 if there is none; times in order are quickest."""
        self._reach()
        found = np.empty(len(slots), np.int64)
        if self._linked < self.rows.size:
            answer_backward(slots, until, self.rows.slots, self._linked, self.rows.size, *self._arrays, found)
            self._linked = self.rows.size
        else:
            find_backward(slots, until, *self._arrays, found)
        return found

    def first_since(self, slots: Small, since: Integers) -> Integers:
        """The first row of each slot that is not before a time, -1 if there is none; of equal ones the best."""
        self.link()
        self._reach()
        found = np.empty(len(slots), np.int64)
        find_forward(slots, since, *self._arrays, found)
        return found

    def between(self, slots: Small, since: Integers, until: Integers) -> Iterator[tuple[Integers, Integers]]:
        """All rows of each slot in a range of times, the newest first, some at a time: places of slots, and rows."""
        self.link()
        self._reach()
        parents, found = np.empty(_PAIRS, np.int64), np.empty(_PAIRS, np.int64)
        at, resume = 0, -1
        while at < len(slots):
            n, at, resume = find_between(slots, since, until, *self._arrays, at, resume, parents, found)
            if n:
                yield parents[:n].copy(), found[:n].copy()

    def newest(self, slots: Small, default: int) -> Integers:
        """The time of the newest row of each slot."""
        self.link()
        self._reach()
        heads = np.where(slots >= 0, self._heads[np.maximum(slots, 0)], -1) if len(self._heads) else slots
        if not self.rows.size:
            return np.full(len(slots), default)
        return np.where(heads >= 0, self.rows.times[np.maximum(heads, 0)], default)

    def give_way(self, until: int) -> None:
        """Rows whose successor is not after this time are gone."""
        self.link()
        rows = self.rows
        self._swept, gone = give_way(rows.times, rows.before, self._swept, rows.size, until, rows.gone)
        self.gone += gone

    def expire(self, before: int) -> None:
        """Rows older than this are gone."""
        rows = self.rows
        cut = int(np.searchsorted(rows.times[: rows.size], before))
        if cut > self._expired:
            self.gone += int(np.count_nonzero(~rows.gone[self._expired : cut]))
            rows.gone[self._expired : cut] = True
            self._expired = cut

    @property
    def cluttered(self) -> bool:
        """Whether so many rows are gone that it pays to clear them away."""
        return self.gone - self._pinned > max(_FEW, self.rows.size - self.gone)

    def clear(self, pinned: Integers, asked: Small) -> tuple[Integers, Small]:
        """Keep only rows that are not gone, and these; where each row and each slot is then.

        ``asked`` are slots that are still asked for, rows or not.
        """
        rows, slots = self.rows, self.slots.count
        keep = ~rows.gone[: rows.size]
        keep[pinned] = True
        live = np.flatnonzero(keep)
        places = np.cumsum(keep) - 1
        used = np.zeros(slots, np.bool_)
        used[rows.slots[live]] = True
        used[asked] = True
        numbers = (np.cumsum(used) - 1).astype(np.int32)
        rows.keep(live)
        rows.slots[: rows.size] = numbers[rows.slots[: rows.size]]
        self.slots.keep(np.flatnonzero(used))
        self._heads = np.empty(0, np.int32)
        self._restart()
        self._pinned = len(pinned)
        self.cleared += 1
        return places, numbers

    @property
    def live(self) -> Integers:
        """The rows that are not gone, the oldest first."""
        return np.flatnonzero(~self.rows.gone[: self.rows.size])

    def revive(self, rows: Integers) -> None:
        """Rows that are asked for after all are not gone."""
        self.gone -= int(np.count_nonzero(self.rows.gone[rows]))
        self.rows.gone[rows] = False

    def drop(self, rows: Integers) -> None:
        """These rows leave, and those that are gone."""
        self.rows.gone[rows] = True
        self.clear(np.empty(0, np.int64), np.empty(0, np.int32))

    def restart(self) -> None:
        """Forget everything."""
        self.rows.keep(np.empty(0, np.int64))
        self.slots.keep(np.empty(0, np.int64))
        self._heads = np.empty(0, np.int32)
        self._restart()
