"""The multi-way probe: a block of one stream against the windows of all others, level by level.

    arrivals of C        C            candidates in B by |B.x - C.x| <= 2, in time
      level 1            C B          candidates in A by A.k = B.k, in time
      level 2            C B A        results

Each level turns a piece of partial results into pieces of longer ones; a piece goes all the way
down before the next is made (depth first), so memory is bounded by levels times the piece size,
however many results there are. A result is made when its member stored last arrives, so exactly once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import CandidateStep, Piece, bind
from dovetail.engine.combine.check import check
from dovetail.engine.combine.partial import Partial
from dovetail.engine.combine.row_windows import RowWindowed
from dovetail.engine.combine.tally import Place, Tally
from dovetail.plan.physical import Level


class Probe:
    """The probe of one arriving stream."""

    def __init__(
        self,
        arriving: str,
        levels: Sequence[Level],
        windows: Mapping[str, Window],
        widths: Mapping[str, int],
        rows: Mapping[str, RowWindowed] | None = None,
    ) -> None:
        self.arriving = arriving
        self.levels = levels
        self._windows = windows
        self._widths = widths
        self._row_windowed = rows or {}
        self._steps: list[CandidateStep] = [
            bind(
                level.access, windows, windows[level.stream], widths[level.stream], self._row_windowed.get(level.stream)
            )
            for level in levels
        ]
        self.tallies = [(Place(level.tie, arriving, bound), Tally()) for bound, level in enumerate(levels, start=1)]
        self._counting = [tally for _, tally in self.tallies]

    def results(self, first: int, last: int) -> Iterator[Partial]:
        """Complete results of the stored tuples with ids first..last-1, in pieces."""
        start = self._start(first, last)
        if len(start):
            yield from self._extend(0, start)

    def _start(self, first: int, last: int) -> Partial:
        start = alone(self.arriving, self._windows[self.arriving], first, last, self._widths[self.arriving])
        if self.arriving not in self._row_windowed:
            return start
        return replace(start, expiry=self._row_windowed[self.arriving].last_sight(start.ids[self.arriving]))

    def _pieces(self, depth: int, partial: Partial) -> Iterator[Piece]:
        return self._steps[depth].pieces(partial)

    def _extend(self, depth: int, partial: Partial) -> Iterator[Partial]:
        if depth == len(self.levels):
            yield partial
            return
        level, tally = self.levels[depth], self._counting[depth]
        window, width = self._windows[level.stream], self._widths[level.stream]
        tally.came += len(partial)
        if not len(window):
            return
        for found in lengthened(level, self._windows, partial, self._pieces(depth, partial), width):
            tally.matched += len(found)
            yield from self._extend(depth + 1, found)


def alone(name: str, window: Window, first: int, last: int, width: int) -> Partial:
    """The stored tuples with ids first..last-1 that can match, before any other stream is bound."""
    ids, times = np.arange(first, last), window.times[first - window.base : last - window.base]
    eligible = window.eligible(ids)
    if eligible is not None:
        ids, times = ids[eligible], times[eligible]
    return Partial({name: ids}, times, times + width)


def lengthened(
    level: Level, windows: Mapping[str, Window], partial: Partial, pieces: Iterator[Piece], width: int
) -> Iterator[Partial]:
    """Partial results with one tuple more of the level's stream, a piece of candidates at a time; none is empty."""
    window = windows[level.stream]
    for parents, ids in pieces:
        if not len(ids):
            continue
        for test in (window.seen, window.eligible):
            keep = test(ids)
            if keep is not None:
                parents, ids = parents[keep], ids[keep]
        # copied, because the next piece reuses the arrays
        longer = checked(level, windows, partial.extended(level.stream, parents, window, ids.copy(), width))
        if len(longer):
            yield longer


def checked(level: Level, windows: Mapping[str, Window], longer: Partial) -> Partial:
    """Those for which the level's other predicates hold."""
    for predicate in level.checks:
        longer = longer.where(check(predicate, windows, longer))
    return longer
