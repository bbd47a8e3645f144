"""Which of many queries share an operator, and which run alone.

Queries with the same ``signature`` can be one operator. ``Groups`` is a value: adding a query and removing
one give other groups, and queries that were together stay together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from dovetail.errors import QueryError, nearest
from dovetail.model.choice import as_choice
from dovetail.model.combinations import check_combination
from dovetail.model.dedup import Dedup
from dovetail.model.nested import plain_schema
from dovetail.model.stream import Stream
from dovetail.plan.partition_grid import Axis
from dovetail.plan.share_cells import own_axes
from dovetail.plan.share_cost import ASSUMED, Known, Verdict, better_alone, verdict
from dovetail.plan.share_queries import (
    SCHEDULES,
    Member,
    ScheduleName,
    SharedPlan,
    share_plan,
    shared_schema,
    signature,
)


@dataclass(frozen=True)
class Groups:
    """The members, the group that each is in, and why some are alone in theirs."""

    members: tuple[Member, ...] = ()
    places: tuple[str, ...] = ()
    schedule: ScheduleName = "greedy"
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        as_choice("schedule", self.schedule, SCHEDULES)

    @classmethod
    def of(cls, members: Iterable[Member], schedule: ScheduleName = "greedy") -> "Groups":
        """Groups of these queries."""
        given, known = tuple(members), dict[str, Stream]()
        names: set[str] = set()
        together: dict[str, list[Member]] = {}
        for member in given:
            _check(member, names, known)
            together.setdefault(signature(member.query), []).append(member)
        shared_schema(given)
        free = [each for each in together.values() if _may_leave(each[0])]
        apart = {name: why for each in free for name, why in better_alone(each).items()}
        places = {each.name: place for place, some in together.items() for each in some}
        chosen = tuple(
            f"{places[each.name]}/{each.name}" if each.name in apart else places[each.name] for each in given
        )
        return cls(given, chosen, schedule, apart)

    def together(self) -> "Groups":
        """Every query in the group it fits into, whatever that costs: such groups do not depend on one another.

        On Spark that is a group with the same buckets.
        """
        axes = [own_axes(member.query) for member in self.members]
        places = [place.partition("/")[0] for place in self.places]
        apart = [place if own is None else f"{place} {_named(own)}" for place, own in zip(places, axes, strict=True)]
        return replace(self, places=tuple(apart), verdicts={})

    def adding(self, member: Member, place: str | None = None, known: Mapping[str, Known] | None = None) -> "Groups":
        """With one more query: in this group if it fits there, else where it costs less, by what was measured."""
        _check(member, {each.name for each in self.members}, {stream.name: stream for stream in self.streams})
        shared_schema([*self.members, member])
        fitting, verdicts = signature(member.query), dict(self.verdicts)
        if place is None or place.partition("/")[0] != fitting:
            others = [each for each, where in zip(self.members, self.places, strict=True) if where == fitting]
            seen = (known or {}).get(fitting, ASSUMED)
            found = verdict(member, others, known=seen) if _may_leave(member) else None
            place = f"{fitting}/{member.name}" if found else fitting
            verdicts |= {member.name: found} if found else {}
        return replace(self, members=(*self.members, member), places=(*self.places, place), verdicts=verdicts)

    def removing(self, name: str) -> "Groups":
        """Without a query."""
        names = [member.name for member in self.members]
        if name not in names:
            raise QueryError(f"there is no query {name!r}; {nearest(name, names).replace('it has', 'there are', 1)}")
        at = names.index(name)
        members, places = self.members[:at] + self.members[at + 1 :], self.places[:at] + self.places[at + 1 :]
        return replace(self, members=members, places=places)

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


def _may_leave(member: Member) -> bool:
    """Whether costs decide: a budget is one for all, and answers of as-of joins cost the same for one and for many."""
    return member.query.budget is None and member.query.answered is None


def _named(axes: tuple[Axis, ...]) -> str:
    return " x ".join(map(str, axes)) or "in one cell"


def _check(member: Member, names: set[str], known: dict[str, Stream]) -> None:
    """The query can be one of many; its name and its streams are taken note of."""
    if member.name in names:
        raise QueryError(f"two queries are named {member.name!r}; give each its own name with query.named(...)")
    check_combination(member.query, runs="shared", of=f"share: query {member.name!r}: ")
    names.add(member.name)
    for stream in member.query.streams:
        if _as_given(stream) != _as_given(known.setdefault(stream.name, stream)):
            raise QueryError(
                f"share: query {member.name!r} has another stream {stream.name!r} than the queries before it: "
                "columns, time, delay and idle must be the same; only windows and asof may differ"
            )


def _as_given(stream: Stream) -> Stream:
    """Without its window, which of its rows are the best, for how long it remembers repeats, and columns for fields."""
    dedup = None if stream.dedup is None else Dedup(stream.dedup.columns)
    asof = None if stream.table is None or stream.asof is None else replace(stream.asof, how="inner")
    return replace(stream, window=None, asof=asof, schema=plain_schema(stream.schema), dedup=dedup)
