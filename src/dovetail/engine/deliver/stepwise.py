"""Combinations that lack a partner, in joins of one stream after the other.

A tuple leaves once no stream can bring anything at or before its ``time + window``. The member of a combination that
leaves first makes it, as the member that was stored last makes a complete one: members that have left before are
marked, and who meets one of them has nothing left to do. Example, windows of 10 s, k equal, C brings nothing:

    a at 3, b at 5      a leaves at 13: b is there and has not left, C has none:    (a, b, -) at 13
                        b leaves at 15: a has left                                  nothing
    a at 7, b at 5      b leaves at 15: a is there, C has none:                     (a, b, -) at 15

A combination goes from stream to stream. Where it goes on without a partner for the first time, the smallest
``time + window`` of its members is its result time. Of members that join it later none needs to be there for longer.
Members without a window do not count in it; where none has one, it is the time of the newest.

A stream that keeps its rows (right, full) begins combinations of its own: with each tuple that fits nothing before it.
Who finds one that fits marks the tuple; whatever lacks a partner has been looked for when its time has come, and what
is complete before it and has not left yet it finds itself.

Under the policy "spill" some tuples are on disk. Then all leave in a pass over the disk, stream by stream in the order
of the query, and a step looks into every place where a stream's tuples stand, one after the other.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import copy

import numpy as np

from dovetail.engine.block.time_range import AFTER_ALL, NEVER
from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import CandidateStep, bind
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.stage_check import fitting
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.places import Elsewhere, Members, Place, windows_of
from dovetail.engine.deliver.unmatched import OPEN, Keeper, Unmatched
from dovetail.model.steps import kept_for_us
from dovetail.model.window import UNBOUNDED_US
from dovetail.plan.physical import Plan, Stage

Found = tuple[Mapping[str, Window] | None, Mapping[str, Ids], Ids]  # None: the windows in memory
Bound = tuple[Stage, CandidateStep]
_ROW = ""  # beside the streams of a combination: its place among those that a step began with
_LEFT, _ALONE = "given", "alone"  # notes about a tuple: whether it has left, whether it fits something before it
_AT_ONCE = 1 << 16  # tuples that leave together; what they meet is made piece by piece


class Stepwise:
    """The tuples that may lack a partner, and the steps that tell."""

    def __init__(self, store: Store, widths: Mapping[str, int], label: str = "") -> None:
        plan, windows = store.plan, store.windows
        assert plan.steps is not None
        self._windows, self._widths, self._label = windows, widths, label
        self._names, self._words = plan.query.names, plan.query.words
        self._leave = {name: Unmatched(name, windows[name], widths[name], None, label) for name in plan.steps.gathers}
        kept = kept_for_us(plan.query.streams, plan.query.words)
        self._alone = {name: Unmatched(name, windows[name], us, None, label, _ALONE) for name, us in kept.items()}
        self.places: Members = {name: Place(window, self.keepers(name)) for name, window in windows.items()}
        self.elsewhere: Elsewhere | None = None
        self._spills = plan.query.budget is not None and plan.query.budget.policy == "spill"
        self.adopt(plan)

    def keepers(self, name: str) -> list[Keeper]:
        """Who notes what becomes of a stream's tuples."""
        return [each[name] for each in (self._leave, self._alone) if name in each]

    def over(self, members: Members, elsewhere: Elsewhere | None) -> "Stepwise":
        """The same for tuples that leave from other places, and whose partners may be elsewhere too."""
        other = copy(self)
        other.places, other.elsewhere = members, elsewhere
        return other

    def adopt(self, plan: Plan) -> None:
        """Look for partners as another plan stores them."""
        assert plan.steps is not None
        self.plan = plan
        self._kept = plan.steps.kept
        self._gathers = {name: [*map(self._bound, stages)] for name, stages in plan.steps.gathers.items()}
        self._back = {name: [*map(self._bound, stages)] for name, stages in plan.steps.alone.items()}
        self._stages = {key: self._bound(stage) for key, stage in plan.steps.stages.items()}

    def _bound(self, stage: Stage) -> Bound:
        name = stage.level.stream
        return stage, bind(stage.level.access, self._windows, self._windows[name], self._widths[name])

    def may_release(self, limit: int, others: Mapping[str, int]) -> bool:
        """Whether no row comes out any more when streams have ended, with a time that may be long past by then."""
        first = self._names[0]
        late = self._widths[first] >= UNBOUNDED_US and others[first] < NEVER
        return not late and (limit >= NEVER or not any(each.waits_for_end for each in self._alone.values()))

    def sections(self) -> list[Marks]:
        """Which tuples have left, and which fit something before them."""
        return [mark for each in (*self._leave.values(), *self._alone.values()) for mark in each.sections()]

    def asked_for(self, name: str, limit: int) -> int:
        """Whatever a tuple of this time or a later one can meet of a stream may be asked for: it has yet to leave."""
        begin = [self._names[0], *(each for each in self._alone if self._comes_before(each, name))]
        asked = [self._yet_to_leave(each, limit) for each in begin if name in self._kept]
        if name in self._alone:
            asked.append(limit - self._alone[name].width + self._widths[name])
        return AFTER_ALL if limit == AFTER_ALL else min(asked, default=AFTER_ALL)

    def _yet_to_leave(self, name: str, limit: int) -> int:
        """No tuple of a stream that has yet to leave is older; with some on disk, the time alone tells that."""
        if self._spills:
            return limit - (self._alone[name].width if name in self._alone else self._widths[name])
        return self._windows[name].oldest if len(self._windows[name]) else AFTER_ALL

    def _comes_before(self, one: str, other: str) -> bool:
        return self._names.index(one) < self._names.index(other)

    def leaving(self, name: str, others: int, limit: int) -> Iterator[Found]:
        """Combinations of tuples that nothing from ``others`` on can join, with their result times.

        ``limit`` is the earliest time that any stream may still bring.
        """
        left, alone = (self._keeper(self.places[name], note) for note in (_LEFT, _ALONE))
        if left is not None:
            yield from self._lacking({name: self.places[name]}, left, others)
        if alone is not None:
            yield from self._begun({name: self.places[name]}, alone, limit)

    def _keeper(self, place: Place, note: str) -> Unmatched | None:
        found = (each for each in place.keepers if isinstance(each, Unmatched) and each.note == note)
        return next((each for each in found if each.label == self._label), None)

    def _begun(self, members: Members, keeper: Unmatched, limit: int) -> Iterator[Found]:
        """Combinations that begin with tuples of a stream, because nothing before fits them."""
        ids, times = keeper.leaving(limit)
        name, window = keeper.name, members[keeper.name].window
        for start in range(0, len(ids), _AT_ONCE):
            some, own = ids[start : start + _AT_ONCE], window.times[ids[start : start + _AT_ONCE] - window.base]
            fits = np.zeros(len(some), np.bool_)
            numbered = Partial({name: some, _ROW: np.arange(len(some))}, own, own + self._widths[name])
            for _, longer in self._gathered(self._back[name], members, numbered) if self._back[name] else ():
                fits[longer.ids[_ROW]] = True
            alone = Partial({name: some}, numbered.newest, numbered.expiry).at(~fits)
            yield from self._onwards(self._after(name), members, alone, times[start : start + _AT_ONCE][~fits])

    def _lacking(self, members: Members, keeper: Unmatched, others: int) -> Iterator[Found]:
        """Combinations whose first tuple to leave is one of these."""
        ids, _ = keeper.leaving(others)
        name, window = keeper.name, members[keeper.name].window
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            times = window.times[some - window.base]
            alone = Partial({name: some}, times, times + self._widths[name])
            for gathered, prefix in self._gathered(self._gathers[name], members, alone):
                yield from self._onwards(self._after(name), gathered, prefix, None)

    def _after(self, name: str) -> int:
        return self._names.index(name) + 1

    def _gathered(self, stages: list[Bound], members: Members, partial: Partial) -> Iterator[tuple[Members, Partial]]:
        """With tuples of all streams joined before, those that have not left yet."""
        if not stages:
            yield members, partial
            return
        for more, longer in self._matches(stages[0], members, partial):
            wanted = self._open(more[stages[0][0].level.stream], longer)
            yield from self._gathered(stages[1:], more, wanted)

    def _onwards(self, at: int, members: Members, partial: Partial, times: Ids | None) -> Iterator[Found]:
        """Combinations of these members through the streams still to come; ``times``: if they lack one already."""
        if not len(partial):
            return
        if times is None and all(self._words[name] == "inner" for name in self._names[at:]):
            return  # complete, or nothing
        if at == len(self._names):
            assert times is not None
            yield None if self.elsewhere is None else self._beside(members), partial.ids, times
            return
        name = self._names[at]
        word, matched = self._words[name], np.zeros(len(partial), np.bool_)
        for more, longer, rows in self._partners(name, members, partial):
            matched[rows] = True
            keeper = self._keeper(more[name], _ALONE)
            if keeper is not None:
                keeper.see(longer)
            if word not in ("semi", "anti"):
                wanted = self._open(more[name], longer) if times is None else longer
                yield from self._onwards(at + 1, more, wanted, None if times is None else times[rows])
        if word not in ("inner", "right"):
            keep = matched if word == "semi" else ~matched
            without = partial.at(keep)
            yield from self._onwards(at + 1, members, without, self._times(without) if times is None else times[keep])

    def _times(self, partial: Partial) -> Ids:
        """The result times of combinations that have found no partner, or need none, for the first time."""
        return partial.newest if all(self._widths[name] >= UNBOUNDED_US for name in partial.ids) else partial.expiry

    def _partners(self, name: str, members: Members, partial: Partial) -> Iterator[tuple[Members, Partial, Ids]]:
        """Longer combinations with their members, and the place of the one that each comes from."""
        stage = self._stages.get((name, frozenset(members)))
        if stage is None:
            return
        numbered = Partial({**partial.ids, _ROW: np.arange(len(partial))}, partial.newest, partial.expiry)
        for more, longer in self._matches(stage, members, numbered):
            ids = dict(longer.ids)
            rows = ids.pop(_ROW)
            yield more, Partial(ids, longer.newest, longer.expiry), rows

    def _open(self, place: Place, partial: Partial) -> Partial:
        """Those whose tuple of a place has not left yet."""
        keeper = self._keeper(place, _LEFT)
        return partial if keeper is None else partial.where(keeper.marks[partial.ids[keeper.name]] == OPEN)

    def _matches(self, bound: Bound, members: Members, partial: Partial) -> Iterator[tuple[Members, Partial]]:
        """With one tuple more of the stage's stream, a piece of candidates at a time; none is empty."""
        stage, step = bound
        name, width = stage.level.stream, self._widths[stage.level.stream]
        if not len(partial):
            return
        for opened in self._standing(name, members):
            with opened as place:
                more = {**members, name: place}
                windows = self._beside(more)
                if not len(place.window):
                    continue
                if self.elsewhere is not None:
                    step = bind(stage.level.access, windows, place.window, width)
                for parents, ids in step.pieces(partial):
                    # copied, because the next piece reuses the arrays
                    longer = fitting(stage, windows, partial.extended(name, parents, place.window, ids.copy(), width))
                    if len(longer):
                        yield more, longer

    def _standing(self, name: str, members: Members) -> Iterator[AbstractContextManager[Place]]:
        """Every place of a stream's tuples in which partners may be."""
        return iter((nullcontext(self.places[name]),)) if self.elsewhere is None else self.elsewhere(name, members)

    def _beside(self, members: Members) -> Mapping[str, Window]:
        """The windows of members; of streams that are missing, those in memory."""
        return {**self._windows, **windows_of(members)}
