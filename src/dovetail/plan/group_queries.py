"""Which of many queries share an operator, and which run alone.

Queries with the same ``signature`` can be one operator. ``Groups`` is a value: adding a query and removing
one give other groups, and queries that were together stay together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from dovetail.errors import QueryError, nearest
from dovetail.model.stream import Stream
from dovetail.plan.share_queries import Member, ScheduleName, SharedPlan, share_plan, shared_schema, signature


@dataclass(frozen=True)
class Groups:
    """The members, and the group that each is in."""

    members: tuple[Member, ...] = ()
    places: tuple[str, ...] = ()
    schedule: ScheduleName = "greedy"

    @classmethod
    def of(cls, members: Iterable[Member], schedule: ScheduleName = "greedy") -> "Groups":
        """Groups of these queries."""
        groups = cls(schedule=schedule)
        for member in members:
            groups = groups.adding(member)
        return groups

    def adding(self, member: Member, place: str | None = None) -> "Groups":
        """With one more query, in a group it fits into (``place``: in this one, if it fits)."""
        self._check(member)
        fitting = signature(member.query)
        chosen = place if place is not None and place.partition("/")[0] == fitting else fitting
        made = replace(self, members=(*self.members, member), places=(*self.places, chosen))
        shared_schema(made.members)
        return made

    def removing(self, name: str) -> "Groups":
        """Without a query."""
        names = [member.name for member in self.members]
        if name not in names:
            raise QueryError(f"there is no query {name!r}; {nearest(name, names).replace('it has', 'there are', 1)}")
        at = names.index(name)
        members, places = self.members[:at] + self.members[at + 1 :], self.places[:at] + self.places[at + 1 :]
        return replace(self, members=members, places=places)

    def _check(self, member: Member) -> None:
        if any(member.name == other.name for other in self.members):
            raise QueryError(f"two queries are named {member.name!r}; give each its own name with query.named(...)")
        if member.query.how != "inner":
            raise QueryError(
                f"share: query {member.name!r} is a {member.query.how} join; inner joins share an operator, "
                "others run by themselves"
            )
        if member.query.aggregation:
            raise QueryError(f"share: query {member.name!r} aggregates its results; let it run by itself")
        known = {stream.name: stream for stream in self.streams}
        for stream in member.query.streams:
            same = replace(stream, window=None) == replace(known.get(stream.name, stream), window=None)
            if not same:
                raise QueryError(
                    f"share: query {member.name!r} has another stream {stream.name!r} than the queries before it: "
                    "columns, time, delay and idle must be the same; only windows may differ"
                )

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Every stream that some query has, once."""
        found = {stream.name: stream for member in reversed(self.members) for stream in member.query.streams}
        return tuple(found.values())

    @property
    def schema(self) -> pa.Schema:
        """Columns of the results."""
        return shared_schema(self.members)

    @property
    def plans(self) -> Mapping[str, SharedPlan]:
        """One operator per group."""
        together: dict[str, list[Member]] = {}
        for member, place in zip(self.members, self.places, strict=True):
            together.setdefault(place, []).append(member)
        return {place: share_plan(members, self.schema, self.schedule, place) for place, members in together.items()}
