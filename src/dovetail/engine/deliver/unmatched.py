"""Rows that come out on their own: unmatched ones of outer and anti joins, matched ones of semi joins.

A note per stored tuple says what has become of it:

    OPEN     no partner yet          MATCHED   has had one          GIVEN   came out as unmatched, or as a semi row

A tuple's ``departure`` is ``time + window``, its own time if it has no window, or the time of the tuple that pushes it
out of a row window. Once no tuple that could join it can come from the other stream, an open tuple comes out with it as
result time. What nothing has pushed out stays to the end of all input. A semi row comes out with the smallest result
time among its matches, once nothing smaller can come.
"""

from collections.abc import Mapping

import numpy as np

from dovetail.engine.block.time_range import AFTER_ALL, NEVER
from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.row_windows import RowWindowed
from dovetail.engine.kernels import first_at_least
from dovetail.model.query import JoinQuery
from dovetail.model.window import UNBOUNDED_US

OPEN, MATCHED, GIVEN = 0, 1, 2  # stored in marks, so they stay


class Unmatched:
    """The tuples of one preserved stream that have no partner."""

    def __init__(
        self, name: str, window: Window, width: int, rows: RowWindowed | None, label: str = "", note: str = "given"
    ) -> None:
        self.name, self.label, self.width, self.note = name, label, width, note
        self._window = window
        self._rows = rows
        self._first = 0  # tuples before it have come out or have a partner
        self.marks = Marks(f"{note}{label}", name, window, OPEN)

    @property
    def waits_for_end(self) -> bool:
        """Whether its rows come out when the other streams have ended, with times that may be long past by then."""
        return self._rows is None and self.width >= UNBOUNDED_US

    def sections(self) -> list[Marks]:
        return [self.marks]

    def over(self, window: Window) -> "Unmatched":
        """The same for tuples that stand in a window of their own."""
        return Unmatched(self.name, window, self.width, None, self.label, self.note)

    def still_open(self, results: Partial) -> Partial:
        """Without results of a tuple that was already given out as unmatched."""
        return results.where(self.marks[results.ids[self.name]] != GIVEN)

    def see(self, results: Partial) -> None:
        """These tuples have a partner."""
        self.marks.turn(results.ids[self.name], OPEN, MATCHED)

    def leaving(self, reach: int, before: int = AFTER_ALL) -> tuple[Ids, Ids]:
        """Tuples ``before`` a time that no partner from ``reach`` on can join, with their result times."""
        ids = self._candidates(reach)
        ids = ids[self.marks[ids] == OPEN]
        departures = self.departures(ids)
        gone = (departures < min(reach, NEVER)) & (self._window.times[ids - self._window.base] < before)
        if not gone.all():
            self._first = int(ids[~gone][0])
        ids, departures = ids[gone], departures[gone]
        self.marks.write(ids, GIVEN)
        return ids, departures

    def staying(self) -> Ids:
        """Tuples that are left when all others have gone: at the end of all input they come out too."""
        ids = np.arange(self._window.tail, self._window.end)
        left: Ids = ids[self.marks[ids] == OPEN]
        self.marks.write(left, GIVEN)
        return left

    def departures(self, ids: Ids) -> Ids:
        """The result times of tuples that come out on their own."""
        if self._rows is not None:
            return self._rows.leaves(ids)
        return self._window.times[ids - self._window.base] + (0 if self.width >= UNBOUNDED_US else self.width)

    def _candidates(self, reach: int) -> Ids:
        window = self._window
        stop = window.end - window.hidden
        if self._rows is None:
            start, end = window.tail - window.base, window.end - window.base
            stop = window.base + first_at_least(window.clock, start, end, reach - self.width + window.slack)
        first, self._first = max(window.tail, min(self._first, stop)), stop
        return np.arange(first, stop)


class Semi:
    """The tuples of the first stream that have a partner, each given out once."""

    def __init__(self, name: str, window: Window, width: int, label: str = "") -> None:
        self.name, self.label, self.width = name, label, width
        self._window = window
        self.marks = Marks(f"given{label}", name, window, OPEN)
        self._best = Marks(f"best{label}", name, window, NEVER)

    def sections(self) -> list[Marks]:
        return [self.marks, self._best]

    def over(self, window: Window) -> "Semi":
        """The same for tuples that stand in a window of their own."""
        return Semi(self.name, window, self.width, self.label)

    def see(self, results: Partial) -> None:
        """Remember the smallest result time of each tuple."""
        ids = results.ids[self.name]
        waiting = self.marks[ids] == OPEN
        self._best.lower(ids[waiting], results.newest[waiting])

    def due(self, limit: int, others: int, before: int = AFTER_ALL) -> tuple[Ids, Ids]:
        """Matched tuples that no smaller result time can reach, or, ``before`` a time, nothing from ``others`` on."""
        window = self._window
        leaving_before = window.id_from(min(others - self.width, before))
        best = self._best.range(window.tail, window.end)
        ids = np.arange(window.tail, window.end)
        due = (best < NEVER) & (self.marks.range(window.tail, window.end) == OPEN)
        due &= (best <= limit) | (ids < leaving_before)
        self.marks.write(ids[due], GIVEN)
        return ids[due], best[due]


Keeper = Unmatched | Semi


def preserved_streams(
    query: JoinQuery,
    windows: Mapping[str, Window],
    widths: Mapping[str, int],
    rows: Mapping[str, RowWindowed],
    label: str,
) -> dict[str, Unmatched]:
    """The streams whose unmatched rows come out."""
    return {name: Unmatched(name, windows[name], widths[name], rows.get(name), label) for name in query.preserved}
