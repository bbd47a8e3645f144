"""Rows whose answers are not all certain yet, with what is known of them; a section of the state.

Only the rows themselves are written, all of them whenever some have come or gone. What is known follows from the rows
that the as-of streams have stored: those that were chosen are kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.asof.answers import Answers, together
from dovetail.engine.asof.side import Asked, Side
from dovetail.engine.block.time_order import places_in_order
from dovetail.engine.buffer.section import SliceKey, Slices

Integers = npt.NDArray[np.int64]


class Waiting:
    """Rows of the answered stream, and the answers of each side to them; None if there are no rows.

    Without answers, while rows of some side are on disk, they are answered anew when those are read.
    """

    section = "open"

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self.asked: Asked | None = None
        self.answers: dict[str, Answers] = {}
        self._number = 0  # of the slice that holds them
        self._written = False  # whether there is such a slice
        self._changed = False
        self.loaded: pa.RecordBatch | None = None

    def __len__(self) -> int:
        return 0 if self.asked is None else len(self.asked)

    @property
    def nbytes(self) -> int:
        return 0 if self.asked is None else sum(array.nbytes for array in self.asked.columns.values())

    def add(self, asked: Asked, answers: Mapping[str, Answers]) -> None:
        """More rows that wait."""
        if not len(asked):
            return
        if self.asked is None:
            self.asked, self.answers = asked, dict(answers)
        else:
            old = self.asked
            columns = {name: pa.concat_arrays([old.columns[name], more]) for name, more in asked.columns.items()}
            self.asked = Asked(columns, np.concatenate([old.times, asked.times]), _both(old, asked))
            self.answers = {name: together([self.answers[name], more]) for name, more in answers.items()}
            places = None if self.answers else places_in_order(self.asked.times)
            self.asked = self.asked if places is None else self.asked.at(places)
        self._changed = True

    def answer(self, sides: Mapping[str, Side], reach: Mapping[str, int]) -> None:
        """Answer all rows anew."""
        if self.asked is not None:
            self.answers = {name: side.answer(self.asked, reach[name]) for name, side in sides.items()}

    def give_up(self) -> Asked | None:
        """All rows leave, without answers."""
        asked = self.asked
        if asked is not None:
            self.asked, self.answers, self._changed = None, {}, True
        return asked

    def take(self, rows: Integers) -> tuple[Asked, dict[str, Answers]]:
        """These rows leave, with their answers."""
        assert self.asked is not None
        leaving = self.asked.at(rows), {name: answers.at(rows) for name, answers in self.answers.items()}
        self.keep_all_but(rows)
        return leaving

    def keep_all_but(self, rows: Integers) -> None:
        """These rows leave."""
        if not len(rows):
            return
        assert self.asked is not None
        stay = np.ones(len(self.asked), np.bool_)
        stay[rows] = False
        left = np.flatnonzero(stay)
        self.asked = self.asked.at(left) if len(left) else None
        self.answers = {name: answers.at(left) for name, answers in self.answers.items()} if len(left) else {}
        self._changed = True

    def _batch(self) -> Slices:
        return {} if self.asked is None else {(self.section, self._number): rows_of(self.asked)}

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        """All rows, instead of those that were written before, if they are others."""
        if not self._changed:
            return {}, []
        gone = [(self.section, self._number)] if self._written else []
        self._number, self._changed = self._number + 1, False
        new = self._batch()
        self._written = bool(new)
        return new, gone

    def state(self) -> Slices:
        return self._batch()

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        self.loaded, self._written = rows, True

    def drop(self, numbers: set[int]) -> None:
        if self._number in numbers:
            self.asked, self.answers, self._written = None, {}, False

    def header(self) -> dict[str, Any]:
        return {"number": self._number}

    def restore(self, header: dict[str, Any]) -> None:
        self._number, self._changed = int(header["number"]), False

    def read_back(self) -> None:
        """The rows that were loaded are those that wait, without answers."""
        if self.loaded is not None:
            self.asked, self.answers, self.loaded = asked_of(self._stream, self.loaded), {}, None


def rows_of(asked: Asked) -> pa.RecordBatch:
    """Rows as they are written."""
    eligible = np.ones(len(asked), np.bool_) if asked.eligible is None else asked.eligible
    names = ["time", "eligible", *(name for _, name in asked.columns)]
    return pa.RecordBatch.from_arrays([pa.array(asked.times), pa.array(eligible), *asked.columns.values()], names)


def asked_of(stream: str, rows: pa.RecordBatch) -> Asked:
    """The inverse."""
    columns = {(stream, name): rows.column(at) for at, name in enumerate(rows.schema.names) if at > 1}
    eligible = np.asarray(rows.column(1).to_numpy(zero_copy_only=False), np.bool_)
    return Asked(columns, rows.column(0).to_numpy(), None if eligible.all() else eligible)


def _both(one: Asked, other: Asked) -> npt.NDArray[np.bool_] | None:
    if one.eligible is None and other.eligible is None:
        return None
    parts = (each.eligible if each.eligible is not None else np.ones(len(each), np.bool_) for each in (one, other))
    return np.concatenate(list(parts))


def undecided(answers: Sequence[Answers]) -> npt.NDArray[np.bool_]:
    """Which rows some side may still answer otherwise."""
    open_: npt.NDArray[np.bool_] = np.logical_or.reduce([each.open for each in answers])
    return open_
