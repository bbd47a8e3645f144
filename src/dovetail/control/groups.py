"""Groups of queries side by side, driven as if they were one: every batch goes to each that has its stream.

When the set of queries changes, a group that keeps some of its queries goes on from its state, one that
has none left goes, and a new one starts with the progress that the others have made: what is late for them
is late for it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from dovetail.control.steered_group import AnyGroup
from dovetail.engine.admit.door import Lateness
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.buffer.section import Changes, Slices
from dovetail.engine.operator.engine import Rows
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.side_output import GroupsDiverted
from dovetail.engine.operator.state import FORMAT, read_header
from dovetail.errors import StateError
from dovetail.model.stamp import check_stamp, stamp
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_cost import Known, measured
from dovetail.plan.share_queries import SharedPlan


class GroupsOperator:
    """The operators of some groups of queries, by group; ``new`` makes one."""

    def __init__(self, groups: Groups, new: Callable[[SharedPlan], AnyGroup]) -> None:
        self._new = new
        self.groups = {place: new(plan) for place, plan in groups.plans.items()}
        self._progress: dict[str, dict[str, Any]] = {}
        self.diverted = GroupsDiverted()
        self.diverted.follow(self.groups)

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch; rows that do not fit are found before any group has changed."""
        asked = [
            group.push({name: rows for name, rows in blocks.items() if name in group.streams}, newest, spans)
            for group in self._with(*blocks)
        ]
        return chain.from_iterable(asked)

    def advance(self, name: str, time_us: int) -> Rows:
        return chain.from_iterable(group.advance(name, time_us) for group in self._with(name))

    def tick(self, now_us: int) -> Rows:
        return chain.from_iterable(group.tick(now_us) for group in self.groups.values())

    def close(self) -> Rows:
        return chain.from_iterable(group.close() for group in self.groups.values())

    def _with(self, *streams: str) -> Iterator[AnyGroup]:
        for group in self.groups.values():
            if any(name in group.streams for name in streams):
                yield group

    @property
    def frontier(self) -> int:
        """No stream of any group will send anything older."""
        return min(group.frontier for group in self.groups.values())

    def change(self, groups: Groups) -> None:
        """Other queries from now on."""
        self._remember()
        if self.groups.keys() - groups.plans.keys():
            self.diverted.gather()
        plans = groups.plans
        started = {place: self._started(plan) for place, plan in plans.items() if place not in self.groups}
        self.groups = {
            place: started[place] if place in started else self.groups[place].changed(plan)
            for place, plan in plans.items()
        }
        self.diverted.follow(self.groups)

    def _started(self, plan: SharedPlan) -> AnyGroup:
        """A group that begins after others."""
        group = self._new(plan)
        group.start_late(self._progress)
        return group

    def _remember(self) -> None:
        """How far each stream has come."""
        for group in self.groups.values():
            self._progress |= group.progress()

    @property
    def suspended(self) -> int:
        """How many arrivals of some group have not looked through all windows yet."""
        return sum(group.suspended for group in self.groups.values())

    def work(self, goes_on: Callable[[], bool]) -> Rows:
        """The most urgent work of each group in turn, piece by piece as long as ``goes_on`` says so."""
        while busy := [group for group in self.groups.values() if group.suspended]:
            for group in busy:
                if not goes_on():
                    return
                yield from group.work()

    def measured(self) -> dict[str, Known]:
        """What groups have seen of their streams, of those that have seen enough."""
        readings = {place: group.statistics() for place, group in self.groups.items()}
        found = {place: measured(each[0].observed.statistics()) for place, each in readings.items() if each}
        return {place: known for place, known in found.items() if known is not None}

    def statistics(self) -> tuple[Readings, ...]:
        """Of every group."""
        return tuple(each for group in self.groups.values() for each in group.statistics())

    def metrics(self) -> dict[str, Any]:
        """Of each operator, under its group; and of each query."""
        found = {place: group.metrics() for place, group in self.groups.items()}
        queries = {name: each for metrics in found.values() for name, each in metrics.pop("queries").items()}
        held = sum(metrics["bytes"] for metrics in found.values()) + self.diverted.nbytes
        return {"queries": queries, "operators": found, "bytes": held}

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped, by whichever group; one that started later has seen less."""
        found: dict[str, Lateness] = {}
        for group in self.groups.values():
            for name, own in group.lateness().items():
                found[name] = max(found.get(name, own), own, key=lambda each: each.rows)
        return found

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time."""
        return any(group.awaits(now_us) for group in self.groups.values())

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        return self._together({place: group.changes() for place, group in self.groups.items()})

    def state(self) -> Changes:
        """The state of all, their sections marked with their group."""
        return self._together({place: group.state() for place, group in self.groups.items()})

    def _together(self, parts: Mapping[str, Changes]) -> Changes:
        self._remember()
        new: Slices = {}
        gone = []
        for place, part in parts.items():
            new |= {(f"{place}|{section}", number): rows for (section, number), rows in part.new.items()}
            gone += [(f"{place}|{section}", number) for section, number in part.gone]
        new |= self.diverted.state()
        headers = {place: part.header.decode() for place, part in parts.items()}
        header = stamp(FORMAT) | {"operators": headers, "progress": self._progress}
        return Changes(new, gone, json.dumps(header).encode())

    def apply(self, changes: Changes) -> None:
        """Go on from a state, with these queries instead of those that wrote it."""
        written = json.loads(changes.header)
        check_stamp("this state", written, FORMAT)
        if not written["operators"].keys() & self.groups.keys():
            raise StateError(
                "this snapshot belongs to other queries: no group has the streams and predicate of these. "
                "Resume with queries over the same streams, or start without a snapshot."
            )
        self._progress = written["progress"]
        self.diverted.restore(changes.new)
        for place, group in self.groups.items():
            if place in written["operators"]:
                group.apply(_of(place, changes, written["operators"][place]))
            else:
                group.start_late(self._progress)


def _of(place: str, changes: Changes, header: str) -> Changes:
    """The part of a state that belongs to one group."""
    own = f"{place}|"
    new = {(s.removeprefix(own), number): rows for (s, number), rows in changes.new.items() if s.startswith(own)}
    gone = [(s.removeprefix(own), number) for s, number in changes.gone if s.startswith(own)]
    return Changes(new, gone, header.encode())


def written_places(header: bytes) -> dict[str, str]:
    """In which group each query was when a state was written."""
    operators = json.loads(header)["operators"]
    headers = {place: read_header(own.encode())["sections"]["group"] for place, own in operators.items()}
    return {each["name"]: place for place, own in headers.items() for each in own["subscriptions"]["places"]}
