"""The queries that share a running operator, as they come and go: each change is a file beside the checkpoint.

    <checkpoint>/queries/part-...   {"format": 1, "version": 3, "program": "5f3a", "members": [...], ...}

The folder is one more source of the pipeline. So it is in Spark's checkpoint which batch brought a change, to all
buckets alike, and a batch that is repeated brings it again. Each bucket keeps the set by which it goes in its state.

A program that starts with the queries it had at its last start goes on with the set as it was changed since. Started
with others, it changes the set to those.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import pyarrow as pa

from dovetail.control.schedule import schedule_windows
from dovetail.control.steered_group import SteeredGroup
from dovetail.engine.buffer.section import Changes, SliceKey
from dovetail.engine.operator.group import Group, Setup
from dovetail.errors import QueryError
from dovetail.model.stamp import check_stamp, stamp, unstamped
from dovetail.model.travel import from_text, to_text
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_queries import Member, ScheduleName, SharedPlan

SECTION = "queries"
FORMAT = 1  # of a set as text; at first it did not say so
_REMEMBERED = 100  # removed queries: rows of theirs may be in a batch that is repeated after a restart


@dataclass(frozen=True)
class QuerySet:
    """One version of the set; ``program`` is a digest of the queries that the program named at its start.

    ``sinks`` are those that can be written down; a function is given again at every start.
    """

    version: int
    program: str
    members: tuple[Member, ...]
    removed: tuple[Member, ...] = ()
    sinks: Mapping[str, Any] = field(default_factory=dict)
    schedule: ScheduleName = "greedy"

    @classmethod
    def started(cls, groups: Groups, last: "QuerySet | None") -> "QuerySet":
        """The set after a start of a program with these queries."""
        members = tuple(bare(member) for member in groups.members)
        text = repr(_known(members))
        program = sha256(text.encode()).hexdigest()[:16]
        if last is None:
            return cls(1, program, members, schedule=groups.schedule)
        return last if last.program == program else replace(last.followed_by(members), program=program)

    def followed_by(self, members: Sequence[Member]) -> "QuerySet":
        """The next version, of these queries."""
        names = {member.name for member in members}
        gone = tuple(each for each in self.members if each.name not in names)
        kept = tuple(each for each in self.removed if each.name not in names)
        return replace(self, version=self.version + 1, members=tuple(members), removed=(kept + gone)[-_REMEMBERED:])

    def shared(self) -> SharedPlan:
        """The one operator of these queries; QueryError if they need several."""
        plans = Groups.of(self.members, self.schedule).together().plans
        if len(plans) > 1:
            first, *others = (", ".join(repr(each.name) for each in plan.members) for plan in plans.values())
            raise QueryError(
                f"write(changes=True) is for queries of one operator; {first} cannot share one with "
                f"{' and '.join(others)} (streams, join predicate, late, budget and buckets must be the same). "
                "Start those by themselves."
            )
        shared = next(iter(plans.values()))
        if shared.plan.query.answered is not None:
            raise QueryError(
                "write(changes=True) is for window joins: which rows of an as-of join were stored depends on the "
                "queries it began with. Leave out changes=, and start again with other queries over the same checkpoint"
            )
        return shared

    def to_text(self) -> str:
        """One line."""
        written = {name: [(each.name, to_text(each.query)) for each in getattr(self, name)] for name in _MEMBERS}
        sinks = {name: sink for name, sink in self.sinks.items() if not callable(sink)}
        own = {"version": self.version, "program": self.program, "sinks": sinks, "schedule": self.schedule}
        return json.dumps(stamp(FORMAT) | own | written)

    @classmethod
    def from_text(cls, text: str) -> "QuerySet":
        """The inverse of ``to_text``."""
        told = json.loads(text)
        check_stamp("the set of queries of this checkpoint", told, FORMAT)
        own = unstamped(told)
        for name in _MEMBERS:
            own[name] = tuple(Member(called, from_text(query)) for called, query in own[name])
        return cls(**own)


_MEMBERS = ("members", "removed")


def _known(members: Sequence[Member]) -> list[tuple[str, str]]:
    """What tells queries apart."""
    return [(member.name, member.fingerprint) for member in members]


def bare(member: Member) -> Member:
    """Without the DataFrames of its streams, which do not travel."""
    streams = tuple(replace(stream, data=None) for stream in member.query.streams)
    return replace(member, query=replace(member.query, streams=streams))


class ChangingGroup(SteeredGroup):
    """A group whose set of queries is part of its state; another set goes on from the state that was written."""

    def __init__(self, group: Group, queries: QuerySet | None = None, written: int = 0) -> None:
        super().__init__(group)
        self.queries, self.written = queries, written

    @classmethod
    def of_set(cls, shared: SharedPlan, setup: Setup, queries: QuerySet | None = None) -> "ChangingGroup":
        """Of a set of queries, or of those with which a checkpoint begins."""
        return cls(Group(shared, schedule_windows(shared), setup), queries, 0 if queries is None else queries.version)

    def followed_by(self, text: str, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes) -> "ChangingGroup":
        """The group with another set, which goes on from this state; this one if its set is no older."""
        queries = QuerySet.from_text(text)
        if self.queries is not None and queries.version <= self.queries.version:
            return self
        other = self
        if _known(queries.members) != _known(self.operator.shared.members):
            other = self.of_set(queries.shared(), self.operator.setup)
        if other is not self and header:
            other.apply(Changes({key: rows for key, rows in slices.items() if key[0] != SECTION}, [], header))
        other.written, other.queries = self.written, queries
        return other

    def changes(self) -> Changes:
        """What to write since the last call; the set of queries only if it is another."""
        changes = super().changes()
        if self.queries is None or self.queries.version == self.written:
            return changes
        gone = [(SECTION, self.written)] if self.written else []
        self.written = self.queries.version
        return replace(changes, new=changes.new | self._slice(self.queries), gone=[*changes.gone, *gone])

    def state(self) -> Changes:
        """All of the state, with the set of queries."""
        changes = super().state()
        return changes if self.queries is None else replace(changes, new=changes.new | self._slice(self.queries))

    @staticmethod
    def _slice(queries: QuerySet) -> dict[SliceKey, pa.RecordBatch]:
        return {(SECTION, queries.version): pa.record_batch({"set": pa.array([queries.to_text()], pa.large_string())})}


def group_of(
    shared: SharedPlan, setup: Setup, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes
) -> ChangingGroup:
    """The group that wrote a state, with its queries; with those of ``shared`` if it names none."""
    told = [rows.column(0)[0].as_py() for (section, _), rows in slices.items() if section == SECTION]
    queries = QuerySet.from_text(told[0]) if told else None
    group = ChangingGroup.of_set(shared if queries is None else queries.shared(), setup, queries)
    group.apply(Changes({key: rows for key, rows in slices.items() if key[0] != SECTION}, [], header))
    return group
