"""Who takes part in a running group, and from when on: what happens to it when its set of queries changes.

A query that was there before, unchanged, goes on as if nothing had happened. A new one sees the results whose
last-arriving member comes from now on, over what is stored. What was not stored is told by two kinds of note:

    kept[stream]              every tuple from this time on is stored, as far as the conditions below the join let it in
    columns[stream][column]   since which epoch, and after which time, tuples have the column

    windows of 1 s until 12:00:00, then a query with 60 s joins: kept is 11:59:59, so it is complete from 12:00:59
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.deliver.route import Subscription, checked_count, condition_text, member_columns
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow, TimeWindow
from dovetail.plan.share_queries import Member, SharedPlan, window_size

Since = tuple[int, int]


@dataclass(frozen=True)
class Progress:
    """How far a group has come when its queries change: the latest time, and per stream how far all others are."""

    latest: int
    others: Mapping[str, int]


@dataclass(frozen=True)
class Subscriptions:
    """The places of a group's queries, in the order of its members, and the notes on what is stored.

    ``below``: the conditions that rows must satisfy to come in; ``certain``: those that every stored tuple satisfies.
    """

    places: tuple[Subscription, ...]
    sizes: Mapping[str, int]
    below: tuple[str, ...]
    certain: tuple[str, ...]
    columns: Mapping[str, Mapping[str, Since]]
    kept: Mapping[str, int]
    epoch: int = 0
    following: int = field(default=0)

    @classmethod
    def of(cls, shared: SharedPlan) -> "Subscriptions":
        """Of a group that starts."""
        places = tuple(Subscription(each.name, at, each.fingerprint) for at, each in enumerate(shared.members))
        stored = {name: dict.fromkeys(columns, (0, BEFORE_ALL)) for name, columns in shared.plan.columns.items()}
        kept = dict.fromkeys(shared.plan.query.names, BEFORE_ALL)
        below = _conditions(shared)
        return cls(places, _sizes(shared), below, below, stored, kept, 0, len(places))

    @classmethod
    def late(cls, shared: SharedPlan, latest: int) -> "Subscriptions":
        """Of a group that starts after others have come so far: nothing up to this time was stored."""
        new = cls.of(shared)
        new = replace(new, kept=dict.fromkeys(new.kept, latest if latest == BEFORE_ALL else latest + 1))
        places = (new.joining(member, at, latest) for at, member in enumerate(shared.members))
        return replace(new, places=tuple(places))

    def fit(self, shared: SharedPlan) -> bool:
        """Whether they are those of exactly these queries."""
        return [(each.name, each.fingerprint) for each in self.places] == [
            (member.name, member.fingerprint) for member in shared.members
        ]

    def recognised(self, shared: SharedPlan) -> "Subscriptions":
        """The same, with queries that are known by an older fingerprint under the one they have now."""
        now = {(member.name, member.older_fingerprint): member.fingerprint for member in shared.members}
        known = ((each, now.get((each.name, each.fingerprint), each.fingerprint)) for each in self.places)
        return replace(self, places=tuple(replace(each, fingerprint=found) for each, found in known))

    def changed(self, shared: SharedPlan, progress: Progress) -> "Subscriptions":
        """The same group with other queries."""
        known = {(each.name, each.fingerprint): each for each in self.places}
        new = [member for member in shared.members if (member.name, member.fingerprint) not in known]
        kept, epoch = self._kept(shared, progress), self.epoch + 1
        columns = {
            name: {column: self.columns[name].get(column, (epoch, progress.latest)) for column in needed}
            for name, needed in shared.plan.columns.items()
        }
        below = _conditions(shared)
        certain = tuple(condition for condition in self.certain if condition in below)
        after = replace(
            self, sizes=_sizes(shared), below=below, certain=certain, columns=columns, kept=kept, epoch=epoch
        )
        for number, member in enumerate(new, self.following):
            known[member.name, member.fingerprint] = after.joining(member, number, progress.latest)
        places = tuple(known[member.name, member.fingerprint] for member in shared.members)
        return replace(after, places=places, following=self.following + len(new))

    def _kept(self, shared: SharedPlan, progress: Progress) -> dict[str, int]:
        relaxed = set(self.below) - set(_conditions(shared))
        kept = {}
        for stream in shared.plan.query.streams:
            name, size = stream.name, window_size(stream.window)
            if isinstance(stream.window, RowWindow):
                kept[name] = AFTER_ALL if size > self.sizes[name] else self.kept[name]
            elif any(condition.startswith(f"{name}: ") for condition in relaxed):
                kept[name] = progress.latest + 1
            else:
                kept[name] = max(self.kept[name], progress.others[name] - self.sizes[name])
        return kept

    def joining(self, member: Member, number: int, latest: int) -> Subscription:
        """The place of a query that joins the group now."""
        place = Subscription(member.name, number, member.fingerprint, since=self.epoch)
        if latest == BEFORE_ALL:
            return place
        whole: dict[str, int] = {}
        settled = BEFORE_ALL
        for stream in member.query.streams:
            size = 0 if isinstance(stream.window, RowWindow) else window_size(stream.window)
            settled = max(settled, min(self.kept[stream.name] + size, AFTER_ALL))
            for column in member_columns(member, stream.name):
                epoch, time = self.columns[stream.name][column]
                if epoch:
                    whole[stream.name] = max(whole.get(stream.name, 0), epoch)
                    settled = AFTER_ALL if isinstance(stream.window, RowWindow) else max(settled, time + 1 + size)
        complete = min(max(latest + 1, settled) + _later(member.query), AFTER_ALL)
        return replace(place, whole=whole, complete_from=complete, settled_from=settled)

    def state(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], streams: Iterable[str]) -> "Subscriptions":
        """The inverse of ``state``, for a group over these streams."""
        return cls(
            places=tuple(Subscription.from_json(place) for place in state["places"]),
            sizes={name: int(state["sizes"][name]) for name in streams},
            below=tuple(map(str, state["below"])),
            certain=tuple(map(str, state["certain"])),
            columns={name: _since(state["columns"][name]) for name in streams},
            kept={name: int(state["kept"][name]) for name in streams},
            epoch=checked_count(state["epoch"]),
            following=checked_count(state["following"]),
        )


def _later(query: JoinQuery) -> int:
    """How much later than its members' times a row may depend on them: unmatched for a window, counted for another."""
    widest = max(s.window.length_us if isinstance(s.window, TimeWindow) else AFTER_ALL for s in query.streams)
    return (widest if query.how != "inner" else 0) + (widest + 1 if query.aggregation else 0)


def _since(columns: Mapping[str, Any]) -> dict[str, Since]:
    return {column: (checked_count(epoch), int(time)) for column, (epoch, time) in columns.items()}


def _sizes(shared: SharedPlan) -> dict[str, int]:
    return {stream.name: window_size(stream.window) for stream in shared.plan.query.streams}


def _conditions(shared: SharedPlan) -> tuple[str, ...]:
    return tuple(condition_text(*condition) for condition in shared.plan.query.filters)
