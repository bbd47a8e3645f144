"""The desk of one query of a group: what it needs for itself beyond the rows that results are routed to.

An outer, semi or anti join notes which tuples have found a partner under its own windows and conditions, and an
aggregating query counts its own results. So each has an exit of its own over the windows that all share:

    routed results -> noted, held or counted, as if the query were alone -> rows under its name, with all columns

A query that joined later gives out only what it can know. A row of one stream alone comes out if its tuple arrived
after the query and every partner it may have had was stored; aggregates begin once all that counts is known.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace

import pyarrow as pa

from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.section import Section
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.combine.store import Store
from dovetail.engine.deliver.exit import own_exit
from dovetail.engine.deliver.hold import result_times
from dovetail.engine.deliver.places import Elsewhere, Members
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.route import MEMBERSHIP, Subscription
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import Member

Rows = Iterator[pa.RecordBatch]


class Desk:
    """One query's way out; ``exit`` is the one that it would have alone."""

    def __init__(self, member: Member, place: Subscription, store: Store, schema: pa.Schema) -> None:
        self.name = member.name
        self.place = place
        self._query = member.query
        self._schema = schema
        self._first = place.complete_from if member.query.aggregation else None
        plan = replace(store.plan, query=member.query)
        self.exit = own_exit(member.query, store, _Known(plan, store.windows, place), f" {place.number}")

    def names(self, schema: pa.Schema) -> None:
        """Rows have these columns from now on."""
        self._schema = schema

    def over(self, store: Store, members: Members, elsewhere: Elsewhere | None) -> "Desk":
        """The same for results whose members stand in other places."""
        other = copy(self)
        other.exit = self.exit.over(store, members, elsewhere)
        return other

    def take(self, results: Partial) -> Rows:
        """Results of the query."""
        return self._named(self.exit.give_rows(self.exit.wanted(results)))

    def become_certain(self, reach: Mapping[str, int], probed: Mapping[str, int]) -> Rows:
        """Rows that lack a partner, in a join by stream."""
        return self._named(self.exit.become_certain(reach, probed))

    def leave(self, name: str, others: int, limit: int, before: int) -> Rows:
        """Rows of a stream that come out on their own."""
        return self._named(self.exit.leave(name, others, limit, before))

    def leave_at_the_end(self, latest: int) -> Rows:
        """Those that stay to the end of all input."""
        return self._named(self.exit.leave_at_the_end(latest))

    def release(self, limit: int, others: Mapping[str, int]) -> Rows:
        """What was held and is not after this time."""
        return self._named(self.exit.release(limit, others))

    def adopt(self, plan: Plan) -> None:
        """Read columns as another plan stores them."""
        self.exit.adopt(replace(plan, query=self._query))

    def sections(self) -> list[Section]:
        """Its parts of the state, under its number."""
        return self.exit.sections()

    def close(self) -> None:
        """The query has left: nothing about tuples is noted for it any more."""
        for section in self.sections():
            if isinstance(section, Marks):
                section.close()

    def _named(self, batches: Iterable[pa.RecordBatch]) -> Rows:
        for rows in batches:
            known = rows if self._first is None else rows.filter(pa.array(result_times(rows) >= self._first))
            if known.num_rows:
                yield self._widened(known)

    def _widened(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        own = dict(zip(rows.schema.names, rows.columns, strict=True))
        own["query"] = pa.repeat(pa.scalar(self.name, pa.string()), rows.num_rows)
        columns = [own[f.name] if f.name in own else pa.nulls(rows.num_rows, f.type) for f in self._schema]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


class _Known(Projection):
    """Rows of a query that may have joined later: without a partner only those of which it knows enough."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window], place: Subscription) -> None:
        super().__init__(plan, windows)
        self._query, self._place = plan.query, place
        self._since, self._settled = place.since, place.settled_from

    def over(self, plan: Plan, windows: Mapping[str, Window]) -> Projection:
        return _Known(replace(plan, query=self._query), windows, self._place)

    def part(self, members: Mapping[str, Ids], times: Ids) -> Rows:
        if self._since:
            first = next(name for name in self._query.names if name in members)
            window, ids = self._windows[first], members[first]
            known = window.take(MEMBERSHIP, ids).to_numpy() >= self._since
            if self._settled is not None:
                known &= window.times[ids - window.base] >= self._settled
            members, times = {name: some[known] for name, some in members.items()}, times[known]
        return super().part(members, times)


def number_of(section: str) -> int | None:
    """Of the desk that a section of the state belongs to, if it does to one."""
    label = section.partition("/")[0].partition(" ")[2]
    return int(label) if label.isdigit() else None
