"""The exit of an operator that many queries share: verified like any, then routed to the queries they belong to.

inner queries              rows of all at once, which leave or wait together (``SharedHold``)
outer, semi, anti, and     each at a desk of its own
aggregating queries
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.buffer.section import Section
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.row_windows import RowCheck
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.ages import Ages
from dovetail.engine.deliver.desk import Desk
from dovetail.engine.deliver.exit import Exit, Routed, Rows
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.deliver.places import Elsewhere, Members, windows_of
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.route import Router, Subscription
from dovetail.engine.deliver.shared_hold import SharedHold
from dovetail.engine.deliver.unmatched import Keeper
from dovetail.model.query import JoinQuery
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import SharedPlan, needs_desk


class Routing(Projection):
    """Which queries results belong to, and the desks of those that have one, by their place among the queries."""

    router: Router
    desks: dict[int, Desk]

    def renew(self, shared: SharedPlan, places: Sequence[Subscription], certain: Sequence[str], store: Store) -> None:
        """Other queries from now on; who stays keeps the desk."""
        self._router_over = partial(_router, shared, places, certain, store)
        self.router = self._router_over(store.windows)
        known = {desk.place.number: desk for desk in self.desks.values() if desk.place in places}
        for desk in self.desks.values():
            if desk.place not in places:
                desk.close()
        self.desks = {}
        for at, (member, place) in enumerate(zip(shared.members, places, strict=True)):
            if needs_desk(member.query):
                self.desks[at] = known.get(place.number) or Desk(member, place, store, shared.schema)
                self.desks[at].names(shared.schema)

    def beside(self, store: Store, members: Members, elsewhere: Elsewhere | None) -> "Routing":
        """The same for results whose members stand in other places."""
        windows = windows_of(members)
        other = Routing(store.plan, windows)
        other.router = self._router_over(windows)
        other.desks = {at: desk.over(store, members, elsewhere) for at, desk in self.desks.items()}
        return other


def _router(
    shared: SharedPlan,
    places: Sequence[Subscription],
    certain: Sequence[str],
    store: Store,
    windows: Mapping[str, Window],
) -> Router:
    ages = Ages(store.plan.query, windows, store.row_windows, RowCheck(windows, store.row_windows))
    return Router(shared, places, certain, windows, ages)


@dataclass(frozen=True)
class SharedExit(Exit):
    """The exit of all queries of a group."""

    hold: SharedHold
    routing: Routing = field(kw_only=True)

    @property
    def _desks(self) -> list[Desk]:
        return list(self.routing.desks.values())

    @property
    def holds(self) -> Sequence[Hold]:
        return (self.hold, *(desk.exit.hold for desk in self._desks))

    @property
    def gives_later(self) -> bool:
        return self.query.order != "none" or bool(self.routing.desks)

    @property
    def gives_alone(self) -> bool:
        return any(desk.exit.gives_alone for desk in self._desks)

    def keepers(self, name: str) -> list[Keeper]:
        return [keeper for desk in self._desks for keeper in desk.exit.keepers(name)]

    def over(self, store: Store, members: Members, elsewhere: Elsewhere | None = None) -> Exit:
        routing = self.routing.beside(store, members, elsewhere)
        row_check = RowCheck(windows_of(members), store.row_windows)
        return replace(self, projection=routing, row_check=row_check, routing=routing)

    def routed(self, results: Partial) -> Iterator[Routed]:
        """Every result once for each query that gets it."""
        self.counts["made"] += len(results)
        return self.routing.router.routed(results)

    def give(self, results: Partial, places: Ids | None = None) -> Rows:
        """Routed results, handed to their queries."""
        assert places is not None
        desks = self.routing.desks
        apart = np.isin(places, list(desks)) if desks else np.zeros(len(places), np.bool_)
        if not apart.all():
            rest = ~apart
            yield from self.hold.give_all(self.routing.router.rows(results.where(rest), places[rest]))
        for place, desk in desks.items() if apart.any() else ():
            own = places == place
            if own.any():
                yield from self._from(desk, desk.take(results.at(own)))

    def give_rows(self, results: Partial) -> Rows:
        """Results over windows that will not stay."""
        for some, places in self.routed(results):
            yield from self.give(some, places)

    def become_certain(self, reach: Mapping[str, int], probed: Mapping[str, int]) -> Rows:
        for desk in self._desks:
            yield from self._from(desk, desk.become_certain(reach, probed))

    def is_behind(self, reach: Mapping[str, int]) -> bool:
        return any(desk.exit.is_behind(reach) for desk in self._desks)

    def leave(self, name: str, others: int, limit: int, before: int = AFTER_ALL) -> Rows:
        for desk in self._desks:
            yield from self._from(desk, desk.leave(name, others, limit, before))

    def leave_at_the_end(self, latest: int) -> Rows:
        for desk in self._desks:
            yield from self._from(desk, desk.leave_at_the_end(latest))

    def asked_for(self, name: str, limit: int) -> int:
        return min((desk.exit.asked_for(name, limit) for desk in self._desks), default=AFTER_ALL)

    def release(self, limit: int, others: Mapping[str, int]) -> Rows:
        yield from self.hold.release(limit)
        for desk in self._desks:
            yield from self._from(desk, desk.release(limit, others))

    def _from(self, desk: Desk, batches: Rows) -> Rows:
        for rows in batches:
            self.hold.note(desk.name, rows.num_rows)
            yield rows

    def waiting(self) -> dict[str, int]:
        """How many rows of each query wait."""
        return self.hold.waiting() | {desk.name: len(desk.exit.hold) for desk in self._desks}

    def adopt(self, plan: Plan) -> None:
        super().adopt(plan)
        for desk in self._desks:
            desk.adopt(plan)

    def sections(self) -> list[Section]:
        return [*super().sections(), *(section for desk in self._desks for section in desk.sections())]


def shared_exit(shared: SharedPlan, places: Sequence[Subscription]) -> Callable[[JoinQuery, Store], Exit]:
    """How an operator for these queries makes its exit; ``renew`` of its routing must follow before results come."""

    def exit_of(query: JoinQuery, store: Store) -> Exit:
        routing = Routing(store.plan, store.windows)
        routing.desks = {}
        row_check = RowCheck(store.windows, store.row_windows)
        return SharedExit(query, routing, row_check, {}, None, SharedHold(shared, places, routing), routing=routing)

    return exit_of
