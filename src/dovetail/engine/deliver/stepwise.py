"""Combinations that lack a partner, in joins of one stream after the other: each when it becomes certain.

It is when all of its rows have come and each stream that it lacks has passed what could join it. So there are three
moments at which one can become certain, and it is looked for from there. Example, windows of 10 s, k equal:

    a tuple comes              a at 3; B has passed 13; c comes at 5:    from c:  (a, -, c)
    a stream passes tuples     a at 3, b at 5; C passes 13:              from a:  (a, b, -)
    a tuple fits nothing       c at 5, and all before C have passed:     from c:  (-, -, c)

These are gone through one after the other, as if each happened alone: first what comes, stream by stream in the order
of the query (what comes later is new, and no partner yet), then how far streams come, again in that order. Each
combination is made by the last of these that it depends on, and so exactly once. When a stream passes a combination,
the member with the smallest ``time + window`` makes it, of several the first in the order of the query.

Under the policy "spill" some tuples are on disk. Then all this happens in a pass over the disk.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import numpy as np

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL, NEVER
from dovetail.engine.buffer.section import Section
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.notes import Notes
from dovetail.engine.deliver.places import Elsewhere, Members, Place
from dovetail.engine.deliver.unmatched import Keeper
from dovetail.engine.deliver.walk import LACKING, Reach, Some, Walk
from dovetail.engine.kernels import first_at_least
from dovetail.model.steps import kept_for_us
from dovetail.model.window import UNBOUNDED_US
from dovetail.plan.physical import Plan

Found = tuple[Mapping[str, Window] | None, Mapping[str, Ids], Ids]  # None: the windows in memory
_AT_ONCE = 1 << 16  # tuples that look together; what they meet is made piece by piece


class Stepwise:
    """Who finds them, and until when tuples are kept for it."""

    def __init__(self, store: Store, widths: Mapping[str, int], label: str = "") -> None:
        query = store.plan.query
        self._windows, self._widths, self._names, self._words = store.windows, widths, query.names, query.words
        self._notes = Notes(query, store.windows, widths, label)
        self.walk = Walk(store.plan, store.windows, widths, self._notes)
        self._alone = kept_for_us(query.streams, query.words)
        self._waits = query.order not in ("none", "hold")  # tuples may wait at the door, in each thread others
        self._spills = query.budget is not None and query.budget.policy == "spill"
        self.adopt(store.plan)

    def keepers(self, name: str) -> list[Keeper]:
        """Who notes what becomes of a stream's tuples."""
        return self._notes.keepers(name)

    def over(self, members: Members, elsewhere: Elsewhere | None) -> "Stepwise":
        """The same for tuples that stand in other places, and whose partners may be elsewhere too."""
        other = copy(self)
        other.walk = self.walk.over(members, elsewhere)
        return other

    def adopt(self, plan: Plan) -> None:
        """Look for partners as another plan stores them."""
        assert plan.steps is not None
        self.plan = plan
        self._kept = plan.steps.kept
        self.walk.adopt(plan)

    def is_behind(self, reach: Reach) -> bool:
        """Whether a state was read back in which rows may be certain and wait: an old one, or that of another order."""
        return self._notes.replays or self._promised(reach) != self._notes.reach

    def sections(self) -> list[Section]:
        """Its parts of the state."""
        return self._notes.sections()

    def see(self, results: Partial) -> None:
        """Complete combinations: something before fits their rows."""
        for name in self._alone:
            self._notes.see(self.walk.places[name], results.ids[name])

    def may_release(self, limit: int, others: Mapping[str, int]) -> bool:
        """Whether no row comes out any more when streams have ended, with a time that may be long past by then."""
        first = self._names[0]
        late = self._widths[first] >= UNBOUNDED_US and others[first] < NEVER
        return not late and (limit >= NEVER or not any(us >= UNBOUNDED_US for us in self._alone.values()))

    def asked_for(self, name: str, limit: int) -> int:
        """Whatever a tuple of this time or a later one can meet of a stream may be asked for: it has yet to leave."""
        begin = [self._names[0], *(each for each in self._alone if self._comes_before(each, name))]
        asked = [self._yet_to_leave(each, limit) for each in begin if name in self._kept]
        asked += [limit] if self._waits else []
        if name in self._alone:
            asked.append(limit - self._alone[name] + self._widths[name])
        return AFTER_ALL if limit == AFTER_ALL else min(asked, default=AFTER_ALL)

    def _yet_to_leave(self, name: str, limit: int) -> int:
        """No tuple of a stream that has yet to leave is older; with some on disk, the time alone tells that."""
        if self._spills:
            return limit - self._alone.get(name, self._widths[name])
        return self._windows[name].oldest if len(self._windows[name]) else AFTER_ALL

    def _comes_before(self, one: str, other: str) -> bool:
        return self._names.index(one) < self._names.index(other)

    def becoming_certain(self, reach: Reach, probed: Mapping[str, int]) -> Iterator[Found]:
        """Combinations that were not certain before, with their result times.

        Streams bring nothing before ``reach``; tuples from ``probed`` on may not have looked for complete ones yet.
        """
        before, now = self._notes.reach, self._promised(reach)
        for name in self._names:
            for place in self._standing(name, before[name], AFTER_ALL):
                yield from self._come(name, place)
        for name in self._names:
            passing = [each for each in self._lacked_after(name) if before[each] < now[each]]
            if passing:
                yield from self._pass(name, passing, now)
        self._notes.reach = now
        for name in self._alone:
            for place in self._standing(name, BEFORE_ALL, self._notes.decided(name, now)):
                yield from self._begin(name, place, probed.get(name, AFTER_ALL))

    def _promised(self, reach: Reach) -> dict[str, int]:
        """How far streams have come; if tuples wait at the door, at most to where all have: one time everywhere."""
        most = min(reach.values()) + 1 if self._waits else AFTER_ALL
        return {name: max(before, min(reach[name], most)) for name, before in self._notes.reach.items()}

    def _lacked_after(self, name: str) -> Sequence[str]:
        """The streams that combinations with a row of this one may lack."""
        if self._words.get(name) in ("semi", "anti"):
            return ()
        return [each for each in self._names[self._names.index(name) + 1 :] if self._words[each] in LACKING]

    def _standing(self, name: str, first: int, last: int) -> Iterator[Place]:
        """Every place of a stream's tuples, if it has some from one time to another."""
        for opened in self.walk.standing(name, {}, first, last):
            with opened as place:
                if len(place.window):
                    yield place

    def _come(self, name: str, place: Place) -> Iterator[Found]:
        """Combinations that new tuples make certain."""
        walk, notes, after = self.walk, self._notes, self._names.index(name) + 1
        ids = notes.new(name, place)
        for start in range(0, len(ids), _AT_ONCE):
            alone = walk.alone(name, place, ids[start : start + _AT_ONCE])
            for way in walk.ways(name):
                whole = walk.complete(name, way) and self._words.get(name) != "semi"
                until = walk.until(after - 1, notes.reach) if whole else AFTER_ALL
                for some in walk.back(name, way, alone.at(alone.partial.newest < until), notes.reach):
                    if way.present:
                        notes.see(place, some.partial.ids[name])
                    found = walk.first_partners(name, some) if self._words.get(name) == "semi" else some
                    yield from self._all(walk.onwards(after, found, notes.reach))
        notes.look_at(name, place, ids)

    def _pass(self, name: str, passing: Sequence[str], now: Reach) -> Iterator[Found]:
        """Combinations that streams have passed, where the member of this one is the first to leave."""
        before, width = self._notes.reach, self._widths[name]
        first, last = min(before[each] for each in passing) - width, max(now[each] for each in passing) - width - 1
        for place in self._standing(name, first, last):
            for each in passing:
                at = self._names.index(each)
                reach = {other: (now if self._names.index(other) < at else before)[other] for other in self._names}
                ids = _between(place.window, before[each] - width, now[each] - width)
                for start in range(0, len(ids), _AT_ONCE):
                    alone = self.walk.alone(name, place, ids[start : start + _AT_ONCE])
                    yield from self._all(self._passed(name, alone, each, reach))

    def _passed(self, name: str, alone: Some, lacks: str, reach: Reach) -> Iterator[Some]:
        for way in self.walk.ways(name):
            for some in self.walk.back(name, way, alone, reach) if not way.outlasts else ():
                own = self.walk.ends(some, name)
                stays = [self.walk.ends(some, each) > own for each in way.present]
                fits = some.at(np.logical_and.reduce(stays)) if stays else some
                yield from self.walk.onwards(self._names.index(name) + 1, fits, reach, lacks)

    def _begin(self, name: str, place: Place, probed: int) -> Iterator[Found]:
        """Combinations that begin with tuples of a stream, because nothing before fits them."""
        reach = self._notes.reach
        ids, times = self._notes.beginning(place, self._notes.decided(name, reach), probed)
        for start in range(0, len(ids), _AT_ONCE):
            alone = self.walk.alone(name, place, ids[start : start + _AT_ONCE])
            begun = Some(alone.members, alone.partial, times[start : start + _AT_ONCE])
            yield from self._all(self.walk.onwards(self._names.index(name) + 1, begun, reach))

    def _all(self, found: Iterator[Some]) -> Iterator[Found]:
        for some in found:
            windows = None if self.walk.elsewhere is None else self.walk.beside(some.members)
            assert some.times is not None, "it lacks a partner"
            yield windows, some.partial.ids, some.times


def _between(window: Window, first: int, last: int) -> Ids:
    """The tuples from one time to just before another."""
    start, stop = window.tail - window.base, window.end - window.base
    ids = window.base + np.arange(
        first_at_least(window.clock, start, stop, first),
        first_at_least(window.clock, start, stop, last + window.slack),
    )
    times = window.times[ids - window.base]
    found: Ids = ids[(times >= first) & (times < last)]
    return found
