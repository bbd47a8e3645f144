"""The stored rows of an as-of stream as a section of the state.

Rows are written once, in slices, in order of time. When rows that are gone have been cleared away, the rest is written
anew. Chains and slots are rebuilt from the rows.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from dovetail.engine.asof.side import Side
from dovetail.engine.block.block import Block
from dovetail.engine.buffer.section import SliceKey, Slices

_SLICE_ROWS = 1 << 17  # a slice of one number per row is a megabyte, as state stores like them


class Stored:
    """The section of one as-of stream; ``read`` makes a block of rows that were written."""

    def __init__(self, side: Side, read: Callable[[pa.RecordBatch], Block]) -> None:
        self.section = f"asof/{side.name}"
        self._side = side
        self._read = read
        self._written: dict[int, tuple[int, int]] = {}  # slices by number, each with its first row and the one after
        self._next = 0
        self._age = 0
        self._loaded: dict[int, pa.RecordBatch] = {}
        self._dropped: set[int] = set()

    @property
    def _rows(self) -> int:
        return self._side.chains.rows.size

    def _new(self) -> list[tuple[int, int]]:
        """Ranges of rows that are in no slice."""
        start = max((stop for _, stop in self._written.values()), default=0)
        return [(at, min(at + _SLICE_ROWS, self._rows)) for at in range(start, self._rows, _SLICE_ROWS)]

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        """Rows that came since the last call; all of them, if some were cleared away."""
        gone: list[SliceKey] = []
        if self._age != self._side.chains.cleared:
            self._age = self._side.chains.cleared
            gone = [(self.section, number) for number in self._written]
            self._written = {}
        new: Slices = {}
        for start, stop in self._new():
            self._written[self._next] = start, stop
            new[self.section, self._next] = self._side.chains.rows.batch(start, stop)
            self._next += 1
        return new, gone

    def state(self) -> Slices:
        """All rows."""
        starts = range(0, self._rows, _SLICE_ROWS)
        batches = [self._side.chains.rows.batch(at, min(at + _SLICE_ROWS, self._rows)) for at in starts]
        return {(self.section, self._next + place): batch for place, batch in enumerate(batches)}

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        self._loaded[number] = rows

    def drop(self, numbers: set[int]) -> None:
        self._dropped |= numbers

    def header(self) -> dict[str, Any]:
        return {"next": self._next, "slices": sorted(self._written)}

    def restore(self, header: dict[str, Any]) -> None:
        """Put together what is left of the rows that are here, and what was loaded."""
        rows = self._side.chains.rows
        if self._loaded or self._dropped:
            kept = {n: rows.batch(*span) for n, span in self._written.items() if n not in self._dropped}
            self._side.chains.restart()
            self._written = {}
            for number, batch in sorted((kept | self._loaded).items()):
                start = rows.size
                self._side.store(self._read(batch))
                self._written[number] = start, rows.size
        self._next = max(int(header["next"]), 1 + max(self._written, default=-1))
        self._age = self._side.chains.cleared
        self._loaded, self._dropped = {}, set()
