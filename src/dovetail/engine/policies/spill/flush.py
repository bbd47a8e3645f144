"""Tuples leave memory: chosen, written as parts, and only then forgotten; if one cannot be written, none leaves.

Parts are small, so that one of every stream fits into a quarter of the budget when they are joined later.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.engine.policies.memory.account import Account
from dovetail.engine.policies.spill.choose import Choice, Group, Leaving
from dovetail.engine.policies.spill.loaded import note_names, with_notes
from dovetail.engine.policies.spill.part import EPOCH, Part, Span, runs_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Stages
from dovetail.errors import BudgetError
from dovetail.model.window import TimeWindow

_LOW_WATER = 0.5  # flushing to half of the limit makes flushes rare and large
_LOADED_SHARE = 0.25  # what a disk pass may load beside the windows


@dataclass(frozen=True)
class Flush:
    """Makes room; row windows, whose tuples are counted, stay in memory."""

    stages: Stages
    account: Account
    choice: Choice
    store: PartStore

    def make_room(self, epoch: int, number: int) -> list[Part]:
        """Write what leaves at the end of this epoch, as parts from this number on, and forget it."""
        self.stages.exit.hold.materialise()  # results that wait as ids would lose the tuples they name
        leaving = list(self._leaving(epoch))
        pieces = [piece for each in leaving for piece in self._pieces(each)]
        parts: list[Part] = []
        try:
            for at, piece in enumerate(pieces, number):
                parts.append(self._write(at, piece, epoch))
        except BudgetError:
            for part in parts:
                self.store.delete(part.number)
            raise
        self._forget(leaving)
        return parts

    def _leaving(self, seed: int) -> Iterator[Leaving]:
        """Groups, until as much has been chosen as must go."""
        streams = self.stages.store.plan.query.streams
        windows = {s.name: self.stages.store.windows[s.name] for s in streams if isinstance(s.window, TimeWindow)}
        left = self.account.held() - _LOW_WATER * self.account.limit
        for group in self.choice.groups(windows, seed):
            if left <= 0:
                return
            left -= sum(len(leaving.ids) * self.account.per_tuple(leaving.stream) for leaving in group)
            yield from _non_empty(group)

    def most_rows(self, name: str) -> int:
        """How many tuples of a stream a part may have."""
        share = _LOADED_SHARE * self.account.limit / len(self.stages.store.windows)
        return max(1, int(share / self.account.per_tuple(name)))

    def _pieces(self, leaving: Leaving) -> Iterator[Leaving]:
        most = self.most_rows(leaving.stream)
        for start in range(0, len(leaving.ids), most):
            yield Leaving(leaving.stream, leaving.ids[start : start + most], leaving.partition)

    def _write(self, number: int, leaving: Leaving, epoch: int) -> Part:
        name, ids, window = leaving.stream, leaving.ids, self.stages.store.windows[leaving.stream]
        slots, columns = ids - window.base, self.stages.store.plan.storage[leaving.stream].columns
        rows = pa.RecordBatch.from_arrays([window.take(column, ids) for column in columns], names=list(columns))
        rows = with_notes(rows, {note: window.note(note)[slots] for note in note_names(self.stages, name)})
        self.store.write(number, rows)
        times, epochs = window.times[slots], window.note(EPOCH)[slots]
        span = Span(int(times.min()), int(times.max()), int(epochs[0]), int(epochs[-1]), epoch + 1, leaving.partition)
        return Part(number, name, len(ids), rows.nbytes, runs_of(epochs), span)

    def _forget(self, leaving: Sequence[Leaving]) -> None:
        for name, window in self.stages.store.windows.items():
            gone = [each.ids for each in leaving if each.stream == name]
            if gone:
                ids = np.arange(window.tail, window.end)
                window.keep_only(np.setdiff1d(ids, np.concatenate(gone), assume_unique=True))


def _non_empty(group: Group) -> Iterator[Leaving]:
    return (leaving for leaving in group if len(leaving.ids))
