"""The exit: complete combinations become results, and leave or wait for their order.

    certain    keys that share a hash are compared, row windows tested, kept late rows kept out of what is settled
    give       whoever found a partner is noted; results leave, or wait in the hold until nothing older can follow
    leave      rows that come out on their own: unmatched ones, and those of a semi join
    release    what the hold may let go

Results in the hold name stored tuples by id. So a window asks the exit before it moves its tuples (``make_room``,
``give_back``): those that held results name stay, unless that were too many; then their rows are gathered first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.engine.block.time_range import AFTER_ALL, NEVER
from dovetail.engine.buffer.section import HeaderSection, Section, whole_numbers
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.row_windows import RowCheck
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.deliver.places import Elsewhere, Members, windows_of
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.sliding.stage import Sliding
from dovetail.engine.deliver.stepwise import Stepwise
from dovetail.engine.deliver.unmatched import Keeper, Semi, Unmatched, preserved_streams
from dovetail.model.query import JoinQuery
from dovetail.plan.physical import Plan

Rows = Iterator[pa.RecordBatch]
Routed = tuple[Partial, Ids | None]
_KEPT = 1 << 17  # expired tuples that a window keeps for held results however few live ones it has: about a block


@dataclass(frozen=True)
class Exit:
    """What a complete combination passes on its way out of one set of windows."""

    query: JoinQuery
    projection: Projection
    row_check: RowCheck
    unmatched: Mapping[str, Unmatched]
    semi: Semi | None
    hold: Hold
    counts: Counter[str] = field(default_factory=Counter)
    stepwise: Stepwise | None = None  # who finds combinations that lack a partner, of more than two streams
    label: str = ""  # tells the sections of its state from those of other exits of the operator

    def keepers(self, name: str) -> list[Keeper]:
        """Who notes what becomes of a stream's tuples."""
        if self.stepwise is not None:
            return self.stepwise.keepers(name)
        semi = [self.semi] if self.semi and self.semi.name == name else []
        return [*([self.unmatched[name]] if name in self.unmatched else []), *semi]

    def over(self, store: Store, members: Members, elsewhere: Elsewhere | None = None) -> "Exit":
        """The exit of combinations whose members stand in other places; what leaves goes through the same hold."""
        windows = windows_of(members)
        projection, row_check = self.projection.over(store.plan, windows), RowCheck(windows, store.row_windows)
        if self.stepwise is not None:
            stepwise = self.stepwise.over(members, elsewhere)
            return replace(self, projection=projection, row_check=row_check, stepwise=stepwise)
        own = [each for place in members.values() for each in place.keepers if each.label == self.label]
        unmatched = {each.name: each for each in own if isinstance(each, Unmatched)}
        semi = next((each for each in own if isinstance(each, Semi)), None)
        return replace(self, projection=projection, row_check=row_check, unmatched=unmatched, semi=semi)

    @property
    def holds(self) -> Sequence[Hold]:
        """Where output waits."""
        return (self.hold,)

    @property
    def gives_later(self) -> bool:
        """Whether anything comes out later than it is found: on its own, or held for an order, if only a former one."""
        return self.query.order != "none" or self.gives_alone or self.query.aggregation is not None or bool(self.hold)

    @property
    def gives_alone(self) -> bool:
        """Whether rows of one stream come out on their own."""
        return self.query.how != "inner"

    def certain(self, found: Partial) -> Partial:
        """The results among complete combinations."""
        return self.wanted(self.row_check.inside(self.projection.verified(found)))

    def wanted(self, results: Partial) -> Partial:
        """Without those of kept late rows that would break an order or contradict a row given out as unmatched."""
        if self.query.late != "keep":
            return results
        kept = self.hold.in_order(results)
        for unmatched in self.unmatched.values():
            kept = unmatched.still_open(kept)
        self.counts["late_results"] += len(results) - len(kept)
        return kept

    def routed(self, results: Partial) -> Iterator[Routed]:
        """The results, and the place of the query that each is for, if there are several."""
        yield results, None

    def give(self, results: Partial, places: Ids | None = None) -> Rows:
        """Routed results over the windows in memory: they may wait as ids."""
        if self._noted(results):
            yield from self.hold.add(results)

    def give_rows(self, results: Partial) -> Rows:
        """Results over windows that will not stay: they wait as rows."""
        if self._noted(results):
            yield from self.hold.give_all(self.projection.rows(results))

    def _noted(self, results: Partial) -> bool:
        """Note who has found a partner; whether the results themselves leave."""
        if not len(results):
            return False
        self.counts["made"] += len(results)
        for kept in self.unmatched.values():
            kept.see(results)
        if self.semi:
            self.semi.see(results)
        if self.stepwise:
            self.stepwise.see(results)
        return self.semi is None and self.query.how != "anti"

    def become_certain(self, reach: Mapping[str, int], probed: Mapping[str, int]) -> Rows:
        """In a join by stream: rows that lack a partner, and are certain now that streams bring nothing before a time.

        Tuples from ``probed`` on may have to probe.
        """
        if self.stepwise is None:
            return
        for windows, members, times in self.stepwise.becoming_certain(reach, probed):
            projection = self.projection if windows is None else self.projection.over(self.stepwise.plan, windows)
            for rows in projection.part(members, times):
                yield from self.hold.give_alone(rows)

    def is_behind(self, reach: Mapping[str, int]) -> bool:
        """Whether rows may be certain and have not come out, in a state that was read back."""
        return self.stepwise is not None and self.stepwise.is_behind(reach)

    def leave(self, name: str, others: int, limit: int, before: int = AFTER_ALL) -> Rows:
        """Rows of a stream that come out on their own: no tuple from ``others`` on can join them.

        ``limit`` is the earliest time that any stream may still bring; tuples not ``before`` a time may have to probe.
        """
        if name in self.unmatched:
            ids, times = self.unmatched[name].leaving(others, before)
            for rows in self.projection.alone(name, ids, self._not_before_others(times)):
                yield from self.hold.give_alone(rows)
        elif self.semi and name == self.semi.name:
            ids, times = self.semi.due(limit, others, before)
            for rows in self.projection.alone(name, ids, times):
                self.hold.keep(rows)

    def _not_before_others(self, times: Ids) -> Ids:
        """Rows that stood in a longer window before the query was changed are due at once, not before what is out."""
        return times if self.query.late == "keep" else np.maximum(times, self.hold.floor)

    def leave_at_the_end(self, latest: int) -> Rows:
        """Unmatched rows that nothing has pushed out of a row window, not older than anything that came in or out."""
        end = max(latest, self.hold.latest_alone)
        for name, unmatched in self.unmatched.items():
            ids = unmatched.staying()
            yield from self.hold.give_all(self.projection.alone(name, ids, np.full(len(ids), end)))

    def asked_for(self, name: str, limit: int) -> int:
        """Tuples of a stream that a tuple of this time or a later one can meet may still be asked for."""
        return AFTER_ALL if self.stepwise is None else self.stepwise.asked_for(name, limit)

    def release(self, limit: int, others: Mapping[str, int]) -> Rows:
        """What was held and is not after this time; ``others``: the earliest that those beside a stream may bring."""
        ended = all(others[name] >= NEVER for name, each in self.unmatched.items() if each.waits_for_end)
        if ended and (self.stepwise is None or self.stepwise.may_release(limit, others)):
            yield from self.hold.release(limit)

    def make_room(self, name: str, window: Window, more: int) -> None:
        """Let a window move its tuples, if it must to take ``more``."""
        if window.lacks_room(more):
            window.make_room(more, self._kept(name, window))

    def give_back(self, name: str, window: Window) -> None:
        """Let a window free what is far too much room."""
        if window.has_spare_room:
            window.give_back(self._kept(name, window))

    def renew(self, name: str, store: Store, ids: Ids) -> None:
        """Let a row window store these tuples anew."""
        store.row_windows[name].renew(ids, self._kept(name, store.windows[name]))

    def _kept(self, name: str, window: Window) -> int:
        """From which id on a window keeps its tuples: held results may name some expired ones."""
        oldest = self.hold.oldest(name, window.tail)
        if window.tail - oldest <= max(len(window), _KEPT):
            return min(oldest, window.tail)
        self.hold.materialise()
        return window.tail

    def take_over(self, other: "Exit") -> None:
        """Hold what another exit of the same query holds."""
        self.hold.take_over(other.hold)
        self.counts.clear()
        self.counts.update(other.counts)

    def adopt(self, plan: Plan) -> None:
        """Read columns as another plan stores them."""
        self.projection.adopt(plan)
        if self.stepwise is not None:
            self.stepwise.adopt(plan)

    def sections(self) -> list[Section]:
        """Its parts of the state: notes about stored tuples, held output, counters."""
        marks = [mark for kept in (*self.unmatched.values(), self.semi) if kept for mark in kept.sections()]
        return [*marks, *(self.stepwise.sections() if self.stepwise else ()), *self.hold.sections(), Delivered(self)]


class Delivered(HeaderSection):
    """The counters of an exit as a section."""

    def __init__(self, exit: Exit) -> None:
        self.section = f"delivered{exit.label}"
        self._exit = exit

    def header(self) -> dict[str, Any]:
        late, hold = self._exit.counts["late_results"], self._exit.hold
        return {
            "results": hold.results,
            "out_of_order": hold.out_of_order,
            "late_results": late,
            "latest_alone": hold.latest_alone,
        }

    def restore(self, header: dict[str, Any]) -> None:
        counts = whole_numbers(header)
        self._exit.hold.results, self._exit.hold.out_of_order = counts["results"], counts["out_of_order"]
        self._exit.counts["late_results"] = counts["late_results"]
        self._exit.hold.latest_alone = counts["latest_alone"]


def exit_of(query: JoinQuery, store: Store) -> Exit:
    """The exit of a query that has the operator to itself."""
    return own_exit(query, store, Projection(store.plan, store.windows))


def own_exit(query: JoinQuery, store: Store, projection: Projection, label: str = "") -> Exit:
    """The exit of one query; the operator, and its windows, may be larger."""
    names = query.joined.names
    hold = Sliding(query, projection, label) if query.aggregation else Hold(query, projection, names, label)
    row_check = RowCheck(store.windows, store.row_windows)
    widths, rows = store.seen_by(query)
    stepwise = Stepwise(store, widths, label) if query.stepwise else None
    unmatched = {} if stepwise else preserved_streams(query, store.windows, widths, rows, label)
    first = query.names[0]
    semi = Semi(first, store.windows[first], widths[first], label) if query.how == "semi" else None
    return Exit(query, projection, row_check, unmatched, semi, hold, stepwise=stepwise, label=label)
