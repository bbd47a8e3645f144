"""From tuples of one stream to combinations that lack a partner: back to the streams before it, on to those behind.

    A LEFT JOIN B LEFT JOIN C LEFT JOIN D, from a tuple of C:   back   (a, b, c)   (a, -, c) if B has passed a
                                                                on     (a, -, c, d)   (a, -, c, -) if D has passed them

A combination goes on without a partner if there is none and the stream has passed the smallest ``time + window`` of its
members, after which none can come. Where it does so for the first time, that is its result time. Members without a
window do not count in it; where none has one, it is the time of the newest.

A stream that keeps its rows (right, full) begins combinations with tuples that fit nothing before them; whoever finds
something before that fits one marks the tuple. Tuples that are new are no partners yet: whatever they are part of is
found from them, when it is their turn.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import CandidateStep, bind
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.stage_check import fitting
from dovetail.engine.deliver.notes import Notes
from dovetail.engine.deliver.places import Elsewhere, Members, Place, windows_of
from dovetail.model.how import KEEPING
from dovetail.model.window import UNBOUNDED_US
from dovetail.plan.physical import Plan, Stage, Way

Reach = Mapping[str, int]
Flags = npt.NDArray[np.bool_]
_ROW = ""  # beside the streams of a combination: its place among those that a step began with
LACKING = ("left", "full", "anti")  # words with which a combination goes on where there is no partner


@dataclass(frozen=True)
class Some:
    """Combinations whose members stand in the same places; ``times``: their result times, if one went on without."""

    members: Members
    partial: Partial
    times: Ids | None = None

    def __len__(self) -> int:
        return len(self.partial)

    def at(self, places: Flags | Ids) -> "Some":
        """The combinations at these places."""
        return Some(self.members, self.partial.at(places), None if self.times is None else self.times[places])


class Walk:
    """The ways back and onwards, over tuples in memory; ``elsewhere`` some may be on disk too."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window], widths: Mapping[str, int], notes: Notes) -> None:
        self.windows, self.widths, self.notes = windows, widths, notes
        self.names, self.words = plan.query.names, plan.query.words
        self.places: Members = {name: Place(window, notes.keepers(name)) for name, window in windows.items()}
        self.elsewhere: Elsewhere | None = None
        self.adopt(plan)

    def adopt(self, plan: Plan) -> None:
        """Look for partners as another plan stores them."""
        assert plan.steps is not None
        self._steps = plan.steps
        stages = [stage for ways in plan.steps.ways.values() for way in ways for stage in way.stages]
        self._bound = {id(stage): self._bind(stage) for stage in (*stages, *plan.steps.stages.values())}

    def over(self, members: Members, elsewhere: Elsewhere | None) -> "Walk":
        """The same for tuples that stand in other places, and whose partners may be elsewhere too."""
        other = copy(self)
        other.places, other.elsewhere = members, elsewhere
        return other

    def _bind(self, stage: Stage) -> CandidateStep:
        name = stage.level.stream
        return bind(stage.level.access, self.windows, self.windows[name], self.widths[name])

    def ways(self, name: str) -> tuple[Way, ...]:
        """The ways back of a stream's tuples."""
        return self._steps.ways[name]

    def complete(self, name: str, way: Way) -> bool:
        """Whether nothing is missing on a way, and no stream before is one of which it only matters if there is any."""
        return len(way.present) == self.names.index(name)

    def alone(self, name: str, place: Place, ids: Ids) -> Some:
        """Tuples of a stream by themselves."""
        return Some({name: place}, self._partial({name: place}, {name: ids}))

    def _partial(self, members: Members, ids: Mapping[str, Ids]) -> Partial:
        times = {name: members[name].window.times[some - members[name].window.base] for name, some in ids.items()}
        ends = [some + self.widths[name] for name, some in times.items()]
        return Partial(ids, np.maximum.reduce([*times.values()]), np.minimum.reduce(ends))

    def ends(self, some: Some, name: str) -> Ids:
        """Time plus window of the members of one stream."""
        ends: Ids = self._partial(some.members, {name: some.partial.ids[name]}).expiry
        return ends

    def back(self, name: str, way: Way, some: Some, reach: Reach) -> Iterator[Some]:
        """The combinations up to a stream that tuples of it are part of, and that are certain up to there."""
        start = min(map(self.names.index, {*way.present, name}))
        missing = [each for each in self.names[start + 1 : self.names.index(name)] if each not in way.present]
        passed = min((reach[each] for each in missing if self.words[each] in LACKING), default=AFTER_ALL)
        some = some.at(some.partial.newest < passed)
        for gathered in self._gathered(way.stages, some):
            found = gathered if start == 0 else self._begun(self.names[start], gathered)
            for each in missing:
                found = self._gone_on(each, found, reach)
            if len(found):
                yield found

    def _begun(self, name: str, some: Some) -> Some:
        """Those whose first member has begun a combination of its own."""
        keep, times = self.notes.begun(some.members[name], name, some.partial.ids[name])
        return Some(some.members, some.partial.at(keep), times)

    def _gone_on(self, missing: str, some: Some, reach: Reach) -> Some:
        """Those that have gone on without the missing stream, by the members that they had then."""
        before = [name for name in self.names[: self.names.index(missing)] if name in some.partial.ids]
        members = {name: some.members[name] for name in before}
        then = Some(members, self._partial(members, {name: some.partial.ids[name] for name in before}), some.times)
        passed = then.partial.expiry < (reach[missing] if self.words[missing] in LACKING else AFTER_ALL)
        then, some = then.at(passed), some.at(passed)
        keep, times = self._without(then, self._goes_on(missing, then, self._has_partner(missing, then), reach))
        return Some(some.members, some.partial.at(keep), times)

    def _goes_on(self, name: str, some: Some, matched: Flags, reach: Reach) -> Flags:
        """Which combinations go on without a partner of a stream, or past it, for certain."""
        if self.words[name] == "semi":
            return matched
        if self.words[name] not in LACKING:
            return np.zeros(len(some), np.bool_)
        return ~matched & (some.partial.expiry < reach[name])

    def _has_partner(self, name: str, some: Some) -> Flags:
        matched = np.zeros(len(some), np.bool_)
        for _, rows in self._partners(name, some):
            matched[rows] = True
        return matched

    def _without(self, some: Some, keep: Flags) -> tuple[Ids, Ids]:
        """The places of those that go on, and their result times; some came out of an engine that had others."""
        if some.times is None and self.notes.replays:
            for name, place in some.members.items():
                keep = keep & ~self.notes.had_left(place, some.partial.ids[name])
        places = np.flatnonzero(keep)
        if some.times is not None:
            return places, some.times[places]
        endless = all(self.widths[name] >= UNBOUNDED_US for name in some.members)
        return places, (some.partial.newest if endless else some.partial.expiry)[places]

    def first_partners(self, name: str, some: Some) -> Some:
        """Of combinations with a new tuple of a semi join: those that had no partner before it, without the tuple."""
        members = {each: place for each, place in some.members.items() if each != name}
        ids = {each: some.partial.ids[each] for each in members}
        then, own = Some(members, self._partial(members, ids), some.times), some.partial.ids[name]
        first = np.ones(len(then), np.bool_)
        for longer, rows in self._partners(name, then, new=True):
            place, found = longer.members[name], longer.partial.ids[name]
            before = self.notes.known(name, place, found)
            if place.number == some.members[name].number:
                before |= found < own[rows]
            first[rows[before]] = False
        keep, times = self._without(then, first)
        return Some(members, then.partial.at(keep), times)

    def onwards(self, at: int, some: Some, reach: Reach, lacks: str | None = None) -> Iterator[Some]:
        """Combinations of these through the streams still to come, as far as they are certain.

        ``lacks``: the stream that has passed them just now. Only those count that lack it, and in which no member
        before it leaves earlier.
        """
        if some.times is None and lacks is None:
            some = some.at(some.partial.newest < self.until(at, reach))
        if not len(some):
            return
        if at == len(self.names):
            if some.times is not None:
                yield some
            return
        name = self.names[at]
        matched = np.zeros(len(some), np.bool_)
        for longer, rows in self._partners(name, some):
            matched[rows] = True
            if lacks == name:
                continue
            self.notes.see(longer.members[name], longer.partial.ids[name])
            if self.words[name] not in ("semi", "anti"):
                fits = longer if lacks is None else longer.at(longer.partial.expiry == some.partial.expiry[rows])
                yield from self.onwards(at + 1, fits, reach, lacks)
        certain = ~matched if lacks == name else self._goes_on(name, some, matched, reach)
        keep, times = self._without(some, certain)
        without = Some(some.members, some.partial.at(keep), times)
        yield from self.onwards(at + 1, without, reach, None if lacks == name else lacks)

    def until(self, at: int, reach: Reach) -> int:
        """Of combinations that lack nothing so far, those from this time on lack nothing for certain in what follows.

        They are followed all the same to a stream whose tuples are marked, and to one of which it matters if there is
        any; complete ones mark the last stream's tuples when they are found.
        """
        marked = [name for name in self.names[max(at, 1) : -1] if self.words[name] in KEEPING]
        if marked or any(self.words[name] == "semi" for name in self.names[max(at, 1) :]) or self.notes.replays:
            return AFTER_ALL
        return max(
            (reach[name] for name in self.names[max(at, 1) :] if self.words[name] in LACKING), default=BEFORE_ALL
        )

    def _partners(self, name: str, some: Some, new: bool = False) -> Iterator[tuple[Some, Ids]]:
        """Longer combinations, and the place of the one that each comes from; ``new``: also with new tuples."""
        stage = self._steps.stages.get((name, frozenset(some.members)))
        if stage is None or not len(some):
            return
        rows = {**some.partial.ids, _ROW: np.arange(len(some))}
        numbered = Some(some.members, Partial(rows, some.partial.newest, some.partial.expiry))
        for longer in self._matches(stage, numbered):
            ids = dict(longer.partial.ids)
            rows_of = ids.pop(_ROW)
            partial = Partial(ids, longer.partial.newest, longer.partial.expiry)
            found = Some(longer.members, partial, None if some.times is None else some.times[rows_of])
            known = None if new else self.notes.known(name, found.members[name], ids[name])
            if known is not None and not known.all():
                found, rows_of = found.at(known), rows_of[known]
            yield found, rows_of

    def _gathered(self, stages: tuple[Stage, ...], some: Some) -> Iterator[Some]:
        """With tuples of all streams on the way back."""
        if not len(some):
            return
        if not stages:
            yield some
            return
        for longer in self._matches(stages[0], some):
            yield from self._gathered(stages[1:], longer)

    def _matches(self, stage: Stage, some: Some) -> Iterator[Some]:
        """With one tuple more of the stage's stream, a piece of candidates at a time; none is empty."""
        name = stage.level.stream
        width, step, partial = self.widths[name], self._bound[id(stage)], some.partial
        for opened in self.standing(name, some.members):
            with opened as place:
                if not len(place.window):
                    continue
                members = {**some.members, name: place}
                windows = self.beside(members)
                if self.elsewhere is not None:
                    step = bind(stage.level.access, windows, place.window, width)
                for parents, ids in step.pieces(partial):
                    # copied, because the next piece reuses the arrays
                    longer = fitting(stage, windows, partial.extended(name, parents, place.window, ids.copy(), width))
                    if len(longer):
                        yield Some(members, longer)

    def standing(
        self, name: str, members: Members, first: int = BEFORE_ALL, last: int = AFTER_ALL
    ) -> Iterator[AbstractContextManager[Place]]:
        """Every place of a stream's tuples in which partners from one time to another may be."""
        if self.elsewhere is None:
            return iter((nullcontext(self.places[name]),))
        return self.elsewhere(name, members, first, last)

    def beside(self, members: Members) -> Mapping[str, Window]:
        """The windows of members; of streams that are missing, those in memory."""
        return {**self.windows, **windows_of(members)}
