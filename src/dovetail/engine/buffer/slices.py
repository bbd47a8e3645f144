"""The section of one window: which of its tuples are in which slice.

Tuples not yet written are cut into slices when the changes are asked for, numbered by their first id; a slice is gone
once its last tuple has expired. Which tuples of the oldest slice have expired is told by the window's tail, in the
header.
"""

from typing import Any, Protocol

import pyarrow as pa

from dovetail.engine.block.block import Block
from dovetail.engine.buffer.section import SliceKey, Slices
from dovetail.engine.buffer.window import Window

_SMALLEST = 1 << 15  # tuples: each slice is a call of the state store, which takes a millisecond on Spark
_PER_WINDOW = 16  # so that a slice that waits for its last tuple is a small part of the window


class SliceLog:
    """Which tuples of a window are in which slice."""

    def __init__(self, stream: str, window: Window, read: "Reader") -> None:
        self.section = f"window/{stream}"
        self._window = window
        self._read = read
        self._slices: list[tuple[int, int]] = []  # (first id, id after the last tuple), oldest first
        self._written = 0

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        gone = [(self.section, first) for first, end in self._slices if end <= self._window.tail]
        self._slices = [(first, end) for first, end in self._slices if end > self._window.tail]
        new = self._cut(max(self._written, self._window.tail))
        self._slices += [(first, first + rows.num_rows) for (_, first), rows in new.items()]
        self._written = self._window.end
        return new, gone

    def state(self) -> Slices:
        return self._cut(self._window.tail)

    def _cut(self, start: int) -> Slices:
        size, end = max(_SMALLEST, len(self._window) // _PER_WINDOW), self._window.end
        firsts = range(start, end, size)
        return {(self.section, first): self._window.batch(first, min(first + size, end)) for first in firsts}

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        block = self._read(rows)
        if not len(self._window):
            self._window.start_at(number)
        self._window.append(block)
        self._slices.append((number, self._window.end))
        self._written = self._window.end

    def drop(self, numbers: set[int]) -> None:
        for first, end in self._slices:
            if first in numbers:
                self._window.forget(end)
        self._slices = [(first, end) for first, end in self._slices if first not in numbers]

    def header(self) -> dict[str, Any]:
        return {"tail": self._window.tail, "end": self._window.end}

    def restore(self, header: dict[str, Any]) -> None:
        self._window.forget(min(header["tail"], self._window.end))
        if not len(self._window):
            self._window.start_at(header["end"])
        self._written = self._window.end


class Reader(Protocol):
    """Turns a stored slice back into a block."""

    def __call__(self, rows: pa.RecordBatch) -> Block: ...
