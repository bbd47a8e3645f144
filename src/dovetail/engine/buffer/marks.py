"""Notes about single stored tuples that change after they were stored, such as "has a partner".

Slices are written once, so a note is written beside them: each batch writes one small slice of
(tuple id, value) pairs, later ones overriding earlier ones, gone once their tuples have expired.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.buffer.section import SliceKey, Slices
from dovetail.engine.buffer.window import Window
from dovetail.engine.kernels import turn_notes

Ids = npt.NDArray[np.int64]


class Marks:
    """One note per tuple of a window, under a name; ``fill`` stands for no note."""

    def __init__(self, name: str, stream: str, window: Window, fill: int) -> None:
        self.section = f"{name}/{stream}"
        self._window = window
        self.name = name
        self._fill = fill
        self._fresh: list[Ids] = []
        self._slices: dict[int, int] = {}  # number -> largest id
        self._next = 0
        self._renewed = 0
        window.keep_note(name, fill)

    def __getitem__(self, ids: Ids) -> Ids:
        return self._window.note(self.name)[ids - self._window.base]

    def range(self, first: int, last: int) -> Ids:
        """The notes of consecutive tuples, as a view."""
        base = self._window.base
        return self._window.note(self.name)[first - base : last - base]

    def write(self, ids: Ids, values: Ids | int) -> None:
        if len(ids):
            self._window.note(self.name)[ids - self._window.base] = values
            self._fresh.append(ids)

    def turn(self, ids: Ids, before: int, after: int) -> None:
        """Notes that are ``before`` become ``after``."""
        turned = turn_notes(self._window.note(self.name), ids, self._window.base, before, after)
        if len(turned):
            self._fresh.append(turned)

    def lower(self, ids: Ids, values: Ids) -> None:
        """Keep the smaller of the old and the new note."""
        if len(ids):
            np.minimum.at(self._window.note(self.name), ids - self._window.base, values)
            self._fresh.append(ids)

    def close(self) -> None:
        """Nobody notes anything any more."""
        self._window.drop_note(self.name)

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        """Notes to write and notes to delete since the last call."""
        tail = self._window.tail
        gone = [number for number, largest in self._slices.items() if largest < tail]
        for number in gone:
            del self._slices[number]
        if self._window.renewed > self._renewed:
            self._renewed = self._window.renewed
            self._fresh = [self._noted()]
        new = {}
        ids = self._touched(tail)
        if len(ids):
            new[self.section, self._next] = _batch(ids, self[ids])
            self._slices[self._next] = int(ids[-1])
            self._next += 1
        return new, [(self.section, number) for number in gone]

    def _touched(self, tail: int) -> Ids:
        """The tuples that still live and whose notes have changed, each once and in order."""
        touched = np.zeros(self._window.end - tail, np.bool_)
        for ids in self._fresh:
            touched[ids[ids >= tail] - tail] = True
        self._fresh = []
        return np.flatnonzero(touched) + tail

    def state(self) -> Slices:
        """All notes as one slice."""
        ids = self._noted()
        return {(self.section, 0): _batch(ids, self[ids])} if len(ids) else {}

    def _noted(self) -> Ids:
        notes = self.range(self._window.tail, self._window.end)
        return np.flatnonzero(notes != self._fill) + self._window.tail

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        """Notes read back, after their tuples."""
        ids, values = (rows.column(at).to_numpy() for at in range(2))
        kept = ids >= self._window.tail
        self._window.note(self.name)[ids[kept] - self._window.base] = values[kept]
        self._slices[number] = int(ids.max())
        self._next = max(self._next, number + 1)

    def drop(self, numbers: set[int]) -> None:
        self._slices = {number: largest for number, largest in self._slices.items() if number not in numbers}

    def header(self) -> dict[str, int]:
        return {"next": self._next}

    def restore(self, header: dict[str, int]) -> None:
        self._next = header["next"]


def _batch(ids: Ids, values: Ids) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(ids), pa.array(values)], names=["id", "value"])
