"""The answers of one as-of stream to some rows, as far as they are known."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.model.asof import AsOf

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass
class Answers:
    """For each row the stored row that is its answer so far (-1: none), and whether another may still follow.

    Where the version of a table that holds at its time is no answer, ``chosen`` is -2 less that row.
    ``due``: from this watermark on none can. ``slots``: the keys that were asked for. ``seen``: up to which time
    the stream has been searched.
    """

    chosen: Integers
    open: Flags
    due: Integers
    slots: npt.NDArray[np.int32]
    seen: Integers

    @property
    def kept(self) -> Integers:
        """The stored rows that were decided by: without one of them an older one would be the answer."""
        rows = np.where(self.chosen < -1, -2 - self.chosen, self.chosen)
        return rows[rows >= 0]

    def move(self, places: Integers, numbers: npt.NDArray[np.int32]) -> None:
        """Stored rows and slots have other numbers now."""
        chosen, known = self.chosen, self.slots >= 0
        if len(places):
            valid, other = places[np.maximum(chosen, 0)], -2 - places[np.maximum(-2 - chosen, 0)]
            self.chosen = np.where(chosen >= 0, valid, np.where(chosen < -1, other, -1))
        if len(numbers):
            self.slots = np.where(known, numbers[np.maximum(self.slots, 0)], -1).astype(np.int32)

    def at(self, rows: Integers | Flags | slice) -> "Answers":
        """The answers of some of the rows."""
        return Answers(*(getattr(self, field.name)[rows] for field in fields(self)))


def together(parts: list[Answers]) -> Answers:
    """The answers of several batches of rows."""
    return Answers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Answers)))


def certain_us(asof: AsOf, asked: Integers, chosen: Integers, times: Integers, end: int) -> Integers:
    """Up to which time the stream had to be known for its answers: their result time as far as it goes.

    ``times``: those of the chosen rows, anything where there is none; ``end``: that of the end of all input.
    """
    if asof.direction == "backward":
        return asked
    last = np.full(len(asked), end) if asof.tolerance_us is None else asked + asof.tolerance_us
    return np.where(chosen >= 0, asked + np.abs(times - asked), last)


def due_us(asof: AsOf, asked: Integers) -> Integers:
    """From which watermark on a row that has no answer so far cannot get one."""
    if asof.tolerance_us is None:
        return np.full(len(asked), AFTER_ALL)
    return asked + (asof.tolerance_us + 1)
