"""Rows that wait until time has passed them: input waiting for its turn, output held for its order.

    add      rows in chunks, each sorted by time
    release  all rows up to and including a time, sorted; ties in the order in which they were added

A min-heap orders the chunks by their first time, so a release touches only chunks that have
something to give. A chunk is written to the state once; what was already released of it is told by
the limit of the last release.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.time_order import places_in_order
from dovetail.engine.buffer.section import SliceKey, Slices

Times = npt.NDArray[np.int64]


@dataclass
class _Chunk:
    number: int
    times: Times
    rows: pa.RecordBatch
    written: bool = False

    @cached_property
    def nbytes(self) -> int:
        return int(self.times.nbytes + self.rows.nbytes)

    def __lt__(self, other: "_Chunk") -> bool:
        return (self.times[0], self.number) < (other.times[0], other.number)


class Pile:
    """Rows by time, with their part of the state; with ``names``, columns read back are called so."""

    def __init__(
        self,
        section: str,
        times_of: Callable[[pa.RecordBatch], Times],
        limit: int,
        names: Sequence[str] | None = None,
    ) -> None:
        self.section = section
        self._names = names
        self._times_of = times_of
        self._heap: list[_Chunk] = []
        self._next = 0
        self._gone: list[int] = []
        self.limit = limit

    def __bool__(self) -> bool:
        return bool(self._heap)

    def __len__(self) -> int:
        return sum(len(chunk.times) for chunk in self._heap)

    @property
    def nbytes(self) -> int:
        return sum(chunk.nbytes for chunk in self._heap)

    @property
    def times(self) -> Times:
        """When the waiting rows are, in no order."""
        return np.concatenate([chunk.times for chunk in self._heap])

    def earliest(self, default: int) -> int:
        """The smallest waiting time."""
        return int(self._heap[0].times[0]) if self._heap else default

    def add(self, rows: pa.RecordBatch, times: Times | None = None) -> None:
        """Rows in any order; if their ``times`` are given, in order."""
        if rows.num_rows:
            if times is None:
                rows, times = _sorted(rows, self._times_of(rows))
            heappush(self._heap, _Chunk(self._next, times, rows))
            self._next += 1

    def release(self, limit: int) -> pa.RecordBatch | None:
        """Every row whose time is not above the limit, in order of time."""
        self.limit = limit
        due: list[tuple[int, Times, pa.RecordBatch]] = []
        while self._heap and self._heap[0].times[0] <= limit:
            chunk = heappop(self._heap)
            if chunk.times[-1] > limit:
                cut = int(chunk.times.searchsorted(limit, side="right"))
                due.append((chunk.number, chunk.times[:cut], chunk.rows.slice(0, cut)))
                heappush(self._heap, _Chunk(chunk.number, chunk.times[cut:], chunk.rows.slice(cut), chunk.written))
                continue
            due.append((chunk.number, chunk.times, chunk.rows))
            if chunk.written:
                self._gone.append(chunk.number)
        if len(due) < 2:
            return due[0][2] if due else None
        due.sort(key=lambda part: part[0])
        together = pa.concat_batches([rows for _, _, rows in due])
        return _sorted(together, np.concatenate([times for _, times, _ in due]))[0]

    def change(self, made: Callable[[pa.RecordBatch], pa.RecordBatch]) -> None:
        """Other columns for the rows that wait; their times stay."""
        for chunk in self._heap:
            chunk.rows = made(chunk.rows)
            vars(chunk).pop("nbytes", None)

    def thin(self, keeps: Callable[[Times], npt.NDArray[np.bool_]]) -> int:
        """Let go for good of waiting rows that ``keeps`` says no to, by their times; how many."""
        waiting, self._heap, before = sorted(self._heap, key=lambda chunk: chunk.number), [], len(self)
        for chunk in waiting:
            keep = keeps(chunk.times)
            if keep.all():
                heappush(self._heap, chunk)
                continue
            if chunk.written:
                self._gone.append(chunk.number)
            self.add(chunk.rows.filter(pa.array(keep)), chunk.times[keep])
        return before - len(self)

    def take_over(self, other: "Pile") -> None:
        """Hold what another holds, and nothing else."""
        self._heap = []
        for _, rows in sorted(other.state().items(), key=lambda part: part[0]):
            self.add(rows)
        self.limit = other.limit

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        """Chunks to write and chunks to delete since the last call."""
        new = {}
        for chunk in sorted(self._heap, key=lambda chunk: chunk.number):
            if not chunk.written:
                new[self.section, chunk.number] = chunk.rows
                chunk.written = True
        gone, self._gone = self._gone, []
        return new, [(self.section, number) for number in gone]

    def state(self) -> Slices:
        """All chunks, without taking note of having written them."""
        return {(self.section, chunk.number): chunk.rows for chunk in self._heap}

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        """A chunk read back; ``restore`` then takes out what was released of it."""
        rows = rows if self._names is None else rows.rename_columns(list(self._names))
        heappush(self._heap, _Chunk(number, self._times_of(rows), rows, written=True))

    def drop(self, numbers: set[int]) -> None:
        """These chunks were released elsewhere."""
        self._heap = [chunk for chunk in self._heap if chunk.number not in numbers]
        self._heap.sort()

    def header(self) -> dict[str, Any]:
        return {"next": self._next, "limit": self.limit}

    def restore(self, header: dict[str, Any]) -> None:
        """Go on from where another left off."""
        self._next = header["next"]
        self.release(header["limit"])
        self._gone.clear()


def _sorted(rows: pa.RecordBatch, times: Times) -> tuple[pa.RecordBatch, Times]:
    places = places_in_order(times)
    return (rows, times) if places is None else (rows.take(pa.array(places)), times[places])
