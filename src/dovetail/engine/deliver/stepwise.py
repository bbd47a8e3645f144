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
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.derive import derive
from dovetail.engine.block.time_range import AFTER_ALL, NEVER
from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import CandidateStep, bind
from dovetail.engine.combine.check import holds, holds_with_null
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.probe import checked
from dovetail.engine.deliver.unmatched import OPEN, Unmatched
from dovetail.model.expression import Call, Expression, columns_of
from dovetail.model.steps import kept_for_us
from dovetail.model.window import UNBOUNDED_US
from dovetail.plan.physical import Attribute, Group, Key, Option, Plan, Stage

Found = tuple[Mapping[str, Ids], Ids]
Present = frozenset[str]
Bound = tuple[Stage, CandidateStep]
_ROW = ""  # beside the streams of a combination: its place among those that a step began with
_AT_ONCE = 1 << 16  # tuples that leave together; what they meet is made piece by piece


class Stepwise:
    """The tuples that may lack a partner, and the steps that tell."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window], widths: Mapping[str, int], label: str = "") -> None:
        assert plan.steps is not None
        self._windows, self._widths = windows, widths
        self._names, self._words = plan.query.names, plan.query.words
        self._waiting = {name: Unmatched(name, windows[name], widths[name], None, label) for name in plan.steps.gathers}
        kept = kept_for_us(plan.query.streams, plan.query.words)
        self._alone = {name: Unmatched(name, windows[name], us, None, label, "alone") for name, us in kept.items()}
        self.adopt(plan)

    def adopt(self, plan: Plan) -> None:
        """Look for partners as another plan stores them."""
        assert plan.steps is not None
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
        return [mark for each in (*self._waiting.values(), *self._alone.values()) for mark in each.sections()]

    def asked_for(self, name: str, limit: int) -> int:
        """Whatever a tuple of this time or a later one can meet of a stream may be asked for: it has yet to leave."""
        begin = [self._names[0], *(each for each in self._alone if self._comes_before(each, name))]
        asked = [self._windows[each].oldest for each in begin if name in self._kept and len(self._windows[each])]
        if name in self._alone:
            asked.append(limit - self._alone[name].width + self._widths[name])
        return min(asked, default=AFTER_ALL)

    def _comes_before(self, one: str, other: str) -> bool:
        return self._names.index(one) < self._names.index(other)

    def leaving(self, name: str, others: int, limit: int) -> Iterator[Found]:
        """Combinations of tuples that nothing from ``others`` on can join, with their result times.

        ``limit`` is the earliest time that any stream may still bring.
        """
        if name in self._waiting:
            yield from self._lacking(name, others)
        if name in self._alone:
            yield from self._begun(name, limit)

    def _begun(self, name: str, limit: int) -> Iterator[Found]:
        """Combinations that begin with tuples of a stream, because nothing before fits them."""
        ids, times = self._alone[name].leaving(limit)
        window, at = self._windows[name], self._names.index(name)
        for start in range(0, len(ids), _AT_ONCE):
            some, own = ids[start : start + _AT_ONCE], window.times[ids[start : start + _AT_ONCE] - window.base]
            fits = np.zeros(len(some), np.bool_)
            numbered = Partial({name: some, _ROW: np.arange(len(some))}, own, own + self._widths[name])
            for longer in self._gathered(self._back[name], numbered) if self._back[name] else ():
                fits[longer.ids[_ROW]] = True
            alone = Partial({name: some}, numbered.newest, numbered.expiry).at(~fits)
            yield from self._onwards(at + 1, alone, frozenset({name}), times[start : start + _AT_ONCE][~fits])

    def _lacking(self, name: str, others: int) -> Iterator[Found]:
        """Combinations whose first tuple to leave is one of these."""
        ids, _ = self._waiting[name].leaving(others)
        window, at = self._windows[name], self._names.index(name)
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            times = window.times[some - window.base]
            alone = Partial({name: some}, times, times + self._widths[name])
            for prefix in self._gathered(self._gathers[name], alone):
                yield from self._onwards(at + 1, prefix, frozenset(self._names[: at + 1]), None)

    def _gathered(self, stages: list[Bound], partial: Partial) -> Iterator[Partial]:
        """With tuples of all streams joined before, those that have not left yet."""
        if not stages:
            yield partial
            return
        for longer in self._matches(stages[0], partial):
            yield from self._gathered(stages[1:], self._open(stages[0][0].level.stream, longer))

    def _onwards(self, at: int, partial: Partial, present: Present, times: Ids | None) -> Iterator[Found]:
        """Combinations of the streams ``present`` through those still to come; ``times``: if they lack one already."""
        if not len(partial):
            return
        if times is None and all(self._words[name] == "inner" for name in self._names[at:]):
            return  # complete, or nothing
        if at == len(self._names):
            assert times is not None
            yield partial.ids, times
            return
        name = self._names[at]
        word, matched = self._words[name], np.zeros(len(partial), np.bool_)
        for longer, rows in self._partners(name, partial, present):
            matched[rows] = True
            if name in self._alone:
                self._alone[name].see(longer)
            if word not in ("semi", "anti"):
                wanted = self._open(name, longer) if times is None else longer
                yield from self._onwards(at + 1, wanted, present | {name}, None if times is None else times[rows])
        if word not in ("inner", "right"):
            keep = matched if word == "semi" else ~matched
            without = partial.at(keep)
            yield from self._onwards(
                at + 1, without, present, self._times(without, present) if times is None else times[keep]
            )

    def _times(self, partial: Partial, present: Present) -> Ids:
        """The result times of combinations that have found no partner, or need none, for the first time."""
        return partial.newest if all(self._widths[name] >= UNBOUNDED_US for name in present) else partial.expiry

    def _partners(self, name: str, partial: Partial, present: Present) -> Iterator[tuple[Partial, Ids]]:
        """Longer combinations, and the place of the one that each comes from."""
        stage = self._stages.get((name, present))
        if stage is None:
            return
        numbered = Partial({**partial.ids, _ROW: np.arange(len(partial))}, partial.newest, partial.expiry)
        for longer in self._matches(stage, numbered):
            ids = dict(longer.ids)
            rows = ids.pop(_ROW)
            yield Partial(ids, longer.newest, longer.expiry), rows

    def _open(self, name: str, partial: Partial) -> Partial:
        """Those whose tuple of a stream has not left yet."""
        if name not in self._waiting:
            return partial
        return partial.where(self._waiting[name].marks[partial.ids[name]] == OPEN)

    def _matches(self, bound: Bound, partial: Partial) -> Iterator[Partial]:
        """With one tuple more of the stage's stream, a piece of candidates at a time; none is empty."""
        stage, step = bound
        level = stage.level
        window, width = self._windows[level.stream], self._widths[level.stream]
        if not len(window) or not len(partial):
            return
        for parents, ids in step.pieces(partial):
            # copied, because the next piece reuses the arrays
            longer = partial.extended(level.stream, parents, window, ids.copy(), width)
            longer = self._verified(stage, checked(level, self._windows, self._comparable(stage, longer)))
            if len(longer):
                yield longer

    def _comparable(self, stage: Stage, partial: Partial) -> Partial:
        """Without those in which a number is missing that a condition compares: NULL and NaN match nothing."""
        for attribute in stage.compared:
            (name,) = {column.stream for each in _expressions(attribute) for column in columns_of(each)}
            partial = partial.where(self._has(attribute, name, partial.ids[name]))
        return partial

    def _has(self, attribute: Attribute, name: str, ids: Ids) -> npt.NDArray[np.bool_]:
        """Which tuples have a number; those that can match all they meet have every one."""
        window = self._windows[name]
        eligible = window.eligible(ids)
        if eligible is None or eligible.all():
            return np.ones(len(ids), np.bool_)
        rest = ids[~eligible]
        columns = {
            (name, column.name): window.take(column.name, rest)
            for each in _expressions(attribute)
            for column in columns_of(each)
        }
        _, valid = derive(attribute, columns, len(rest), window.vector_width(attribute))
        has = np.ones(len(ids), np.bool_)
        if valid is not None:
            has[~eligible] = valid
        return has

    def _verified(self, stage: Stage, partial: Partial) -> Partial:
        for equality in stage.verify:
            same = Call("eq", (equality.left, equality.right), pa.bool_())
            partial = partial.where(holds(same, self._windows, partial))
        for predicate in stage.with_null:
            partial = partial.where(holds_with_null(predicate, self._windows, partial))
        return partial


def _expressions(attribute: Attribute) -> tuple[Expression, ...]:
    return attribute.expressions if isinstance(attribute, Key | Group | Option) else (attribute.expression,)
