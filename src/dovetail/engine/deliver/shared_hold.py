"""The hold of an operator that many queries share: order is made per query, here at the exit.

Rows of queries without an order pass at once; the others wait until nothing older can follow. Inside,
rows carry the number of their query; outside, its name. Rows of a query that has left are dropped.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from dovetail.engine.combine.partial import Partial
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.deliver.route import Subscription
from dovetail.plan.share_queries import SharedPlan


class SharedHold(Hold):
    """The last stage before rows leave the operator, named."""

    def __init__(self, shared: SharedPlan, subscriptions: Sequence[Subscription]) -> None:
        super().__init__(shared.plan.query)
        self.delivered: Counter[str] = Counter()
        self.renew(shared, subscriptions)

    def renew(self, shared: SharedPlan, subscriptions: Sequence[Subscription]) -> None:
        """Other queries from now on."""
        self._schema = shared.schema
        self._names = [each.name for each in subscriptions]
        self._places = np.full(1 + max((each.number for each in subscriptions), default=0), -1, np.int64)
        self._places[[each.number for each in subscriptions]] = np.arange(len(subscriptions))
        self.delivered = Counter({name: self.delivered[name] for name in self._names})
        self._waits = np.array([member.query.order != "none" for member in shared.members], np.bool_)

    def give(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows that were just made."""
        waits = self._waits[self._places_of(rows)]
        if waits.any():
            self.keep(rows if waits.all() else rows.filter(pa.array(waits)))
        if not waits.all():
            yield self._named(rows.filter(pa.array(~waits)) if waits.any() else rows)

    def in_order(self, results: Partial) -> Partial:
        """All results: which queries they are too late for shows once they are routed."""
        return results

    def release(self, limit: int) -> Iterator[pa.RecordBatch]:
        """Rows up to this time, of queries that are still there."""
        rows = self.pile.release(max(limit, self.pile.limit))
        if rows is not None:
            here = self._places_of(rows) >= 0
            rows = rows if here.all() else rows.filter(pa.array(here))
            if rows.num_rows:
                yield self._named(rows)

    def waiting(self) -> dict[str, int]:
        """How many rows of each query wait."""
        counts = np.zeros(len(self._names), np.int64)
        for rows in self.pile.state().values():
            places = self._places_of(rows)
            counts += np.bincount(places[places >= 0], minlength=len(counts))
        return dict(zip(self._names, counts.tolist(), strict=True))

    def _places_of(self, rows: pa.RecordBatch) -> np.ndarray:
        numbers = rows.column(1).to_numpy()
        known = numbers < len(self._places)
        return np.where(known, self._places[np.where(known, numbers, 0)], -1)

    def _named(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        places = self._places_of(rows)
        self.results += rows.num_rows
        for place, count in enumerate(np.bincount(places).tolist()):
            if count:
                self.delivered[self._names[place]] += count
        names = pa.array(self._names, pa.string()).take(pa.array(places))
        columns = dict(zip(rows.schema.names, rows.columns, strict=True)) | {"query": names}
        return pa.RecordBatch.from_arrays([columns[name] for name in self._schema.names], schema=self._schema)
