"""The state of an engine as slices: Arrow blocks under (section, number), written once, then gone.

    ("window/T", 12)  ->  a record batch

``SliceLog`` follows one window. Tuples not yet written are cut into slices when the changes are
asked for; a slice is gone once its last tuple has expired.
"""

from dataclasses import dataclass

import pyarrow as pa

from dovetail.engine.buffer.window import Window

SliceKey = tuple[str, int]
_SMALLEST = 4096
_PER_WINDOW = 16


@dataclass(frozen=True)
class Changes:
    """What happened to the state since the last call: new slices, gone slices, and one small header."""

    new: dict[SliceKey, pa.RecordBatch]
    gone: list[SliceKey]
    header: bytes


class SliceLog:
    """Which tuples of a window are in which slice."""

    def __init__(self, section: str, window: Window) -> None:
        self._section = section
        self._window = window
        self._slices: list[tuple[int, int]] = []  # (number, id after the last tuple), oldest first
        self._written = 0
        self.next_number = 0

    def changes(self) -> tuple[dict[SliceKey, pa.RecordBatch], list[SliceKey]]:
        """Slices to write and slices to delete since the last call."""
        gone = [(self._section, number) for number, end in self._slices if end <= self._window.tail]
        self._slices = [(number, end) for number, end in self._slices if end > self._window.tail]
        new = {}
        start = max(self._written, self._window.tail)
        size = max(_SMALLEST, len(self._window) // _PER_WINDOW)
        for first in range(start, self._window.end, size):
            last = min(first + size, self._window.end)
            new[self._section, self.next_number] = self._window.batch(first, last)
            self._slices.append((self.next_number, last))
            self.next_number += 1
        self._written = self._window.end
        return new, gone

    def loaded(self, number: int) -> None:
        """The window was just extended by this slice."""
        self._slices.append((number, self._window.end))
        self._written = self._window.end
        self.next_number = number + 1

    def dropped(self, numbers: set[int]) -> None:
        """These slices are gone already."""
        self._slices = [(number, end) for number, end in self._slices if number not in numbers]

    @property
    def live(self) -> list[SliceKey]:
        return [(self._section, number) for number, end in self._slices if end > self._window.tail]
