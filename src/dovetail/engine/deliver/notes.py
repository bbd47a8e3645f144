"""What is known about tuples in a join of one stream after the other: who was looked at, who begins a combination.

    seen    tuples whose combinations were looked for; those with larger ids are new
    alone   tuples of right and full streams: MATCHED if something before fits, GIVEN if they have begun a combination
    given   only of states that were written when a row waited until it left: its combinations have come out

Under the policy "spill" tuples leave memory and get other ids, so that each has a note that it was looked at.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.section import HeaderSection, Section, whole_numbers
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids
from dovetail.engine.deliver.places import Place
from dovetail.engine.deliver.unmatched import GIVEN, MATCHED, OPEN, Keeper, Unmatched
from dovetail.model.query import JoinQuery
from dovetail.model.steps import kept_for_us, known_after_us

Flags = npt.NDArray[np.bool_]
_LEFT, _ALONE, _SEEN = "given", "alone", "seen"  # names of notes in stored states, so they stay


class Notes(HeaderSection):
    """Notes about the tuples of all streams, and how far streams had come when combinations were last looked for."""

    def __init__(self, query: JoinQuery, windows: Mapping[str, Window], widths: Mapping[str, int], label: str) -> None:
        self.section, self._label, self._windows = f"certain{label}", label, windows
        self.reach = dict.fromkeys(windows, BEFORE_ALL)
        self._first_new = dict.fromkeys(windows, 0)
        self._after = known_after_us(query.streams, query.words)
        self._spills = query.budget is not None and query.budget.policy == "spill"
        kept = kept_for_us(query.streams, query.words)
        noted = {_LEFT: widths, _ALONE: kept, _SEEN: widths if self._spills else {}}
        self._keepers = {
            name: [Unmatched(name, window, of[name], None, label, note) for note, of in noted.items() if name in of]
            for name, window in windows.items()
        }

    def keepers(self, name: str) -> list[Keeper]:
        """Who notes what becomes of a stream's tuples."""
        return [*self._keepers[name]]

    @property
    def replays(self) -> bool:
        """Whether nothing was looked for yet: at the beginning, or in a state that was written without these notes."""
        return max(self.reach.values()) == BEFORE_ALL

    def sections(self) -> list[Section]:
        """Its parts of the state."""
        marks = [mark for keepers in self._keepers.values() for each in keepers for mark in each.sections()]
        return [*marks, self]

    def header(self) -> dict[str, Any]:
        return {"reach": self.reach}

    def restore(self, header: dict[str, Any]) -> None:
        reach = whole_numbers(header["reach"])
        self.reach = {name: reach[name] for name in self.reach}
        self._first_new = {name: window.end for name, window in self._windows.items()}

    def _of(self, place: Place, note: str) -> Unmatched | None:
        found = (each for each in place.keepers if isinstance(each, Unmatched) and each.note == note)
        return next((each for each in found if each.label == self._label), None)

    def _marks(self, place: Place, note: str) -> Marks:
        found = self._of(place, note)
        assert found is not None, "every place has them"
        return found.marks

    def new(self, name: str, place: Place) -> Ids:
        """The tuples of a place whose combinations were not looked for yet."""
        window = place.window
        if not self._spills:
            return np.arange(max(window.tail, self._first_new[name]), window.end)
        ids = np.arange(window.tail, window.end)
        fresh: Ids = ids[self._marks(place, _SEEN)[ids] == OPEN]
        return fresh

    def look_at(self, name: str, place: Place, ids: Ids) -> None:
        """They were looked for."""
        if self._spills:
            self._marks(place, _SEEN).write(ids, GIVEN)
        else:
            self._first_new[name] = place.window.end

    def known(self, name: str, place: Place, ids: Ids) -> Flags:
        """Which tuples are not new."""
        known: Flags = self._marks(place, _SEEN)[ids] != OPEN if self._spills else ids < self._first_new[name]
        return known

    def had_left(self, place: Place, ids: Ids) -> Flags:
        """Of which tuples all combinations came out when they left, before these notes were kept."""
        left: Flags = self._marks(place, _LEFT)[ids] != OPEN
        return left

    def see(self, place: Place, ids: Ids) -> None:
        """Something before these tuples fits them, if that matters."""
        keeper = self._of(place, _ALONE)
        if keeper is not None:
            keeper.marks.turn(ids, OPEN, MATCHED)

    def decided(self, name: str, reach: Mapping[str, int]) -> int:
        """Before this time it is known of the tuples of a right or full stream whether anything before fits them."""
        return min(reach[other] - after for other, after in self._after[name].items())

    def beginning(self, place: Place, decided: int, probed: int) -> tuple[Ids, Ids]:
        """Tuples that begin a combination from now on, with their result times; from ``probed`` on they may not yet."""
        keeper = self._of(place, _ALONE)
        assert keeper is not None
        return keeper.leaving(decided + keeper.width, probed)

    def begun(self, place: Place, name: str, ids: Ids) -> tuple[Ids, Ids]:
        """The places of those that have begun one before, with their result times."""
        keeper, window = self._of(place, _ALONE), place.window
        assert keeper is not None
        before = window.times[ids - window.base] < self.decided(name, self.reach)
        begun = np.flatnonzero((keeper.marks[ids] == GIVEN) & before)
        return begun, keeper.departures(ids[begun])
