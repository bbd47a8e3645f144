"""The hold of an operator that many queries share: order is made per query, here at the exit.

Rows of queries without an order pass at once; the others wait until nothing older can follow. Inside,
rows carry the number of their query; outside, its name. Rows of a query that has left are dropped.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.combine.partial import Partial
from dovetail.engine.deliver.hold import Hold, result_times
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.route import Subscription
from dovetail.plan.share_queries import SharedPlan


class SharedHold(Hold):
    """The last stage before rows leave the operator, named."""

    def __init__(self, shared: SharedPlan, subscriptions: Sequence[Subscription], projection: Projection) -> None:
        super().__init__(shared.plan.query, projection)
        self.delivered: Counter[str] = Counter()
        self.limits: Sequence[int] | None = None
        self._kept_back: list[pa.RecordBatch] = []
        self._behind = AFTER_ALL
        self.renew(shared, subscriptions, [0] * len(subscriptions))

    def renew(self, shared: SharedPlan, subscriptions: Sequence[Subscription], stages: Sequence[int]) -> None:
        """Other queries from now on, and the stage by which each has all of its windows."""
        self._stages = np.array(stages, np.int64)
        self._schema = shared.schema
        self._names = [each.name for each in subscriptions]
        self._places = np.full(1 + max((each.number for each in subscriptions), default=0), -1, np.int64)
        self._places[[each.number for each in subscriptions]] = np.arange(len(subscriptions))
        self.delivered = Counter({name: self.delivered[name] for name in self._names})
        self._reached = np.full(1 + max(stages, default=0), self.floor, np.int64)
        self._waits = np.array([member.query.order != "none" for member in shared.members], np.bool_)

    @property
    def floor(self) -> int:
        """Nothing older than this may still come out."""
        return min(self.pile.limit, self._behind)

    def give(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows that were just made."""
        waits = self._waits[self._places_of(rows)]
        if waits.any():
            self.keep(rows if waits.all() else rows.filter(pa.array(waits)))
        if not waits.all():
            yield self._named(rows.filter(pa.array(~waits)) if waits.any() else rows)

    def _floors(self, rows: pa.RecordBatch) -> np.ndarray:
        """How far each row's query has come: while arrivals are suspended, some are ahead of others."""
        reached: np.ndarray = self._reached[self._stages[self._places_of(rows)]]
        return reached

    def in_order(self, results: Partial) -> Partial:
        """All results: which queries they are too late for shows once they are routed."""
        return results

    def release(self, limit: int) -> Iterator[pa.RecordBatch]:
        """Rows up to this time, of queries that are still there; while arrivals are suspended, what their stage allows.

        ``limits`` gives the time per stage; rows of a query whose stage is behind go back, and wait outside the state,
        which is only written when nothing is suspended.
        """
        limits = np.array(self.limits or [limit], np.int64)
        self._behind = int(limits[-1]) if self.limits else AFTER_ALL
        per_stage = limits[: len(self._reached)] if len(limits) >= len(self._reached) else limits.min()
        self._reached = np.maximum(self._reached, per_stage)
        for rows in self._kept_back:
            self.pile.add(rows)
        self._kept_back = []
        rows = self.pile.release(max(int(limits[0]), self.pile.limit))
        if rows is None:
            return
        places = self._places_of(rows)
        here = places >= 0
        if len(limits) > 1:
            early = result_times(rows) > limits[self._stages[places]]
            self._keep_back(rows, here & early)
            here &= ~early
        if here.any():
            yield self._named(rows if here.all() else rows.filter(pa.array(here)))

    def _keep_back(self, rows: pa.RecordBatch, back: np.ndarray) -> None:
        if back.any():
            self._kept_back.append(rows.filter(pa.array(back)))

    def waiting(self) -> dict[str, int]:
        """How many rows of each query wait."""
        counts = np.zeros(len(self._names), np.int64)
        for rows in self.pile.state().values():
            places = self._places_of(rows)
            counts += np.bincount(places[places >= 0], minlength=len(counts))
        return dict(zip(self._names, counts.tolist(), strict=True))

    def note(self, name: str, rows: int) -> None:
        """So many rows of a query leave."""
        self.results += rows
        self.delivered[name] += rows

    def _places_of(self, rows: pa.RecordBatch) -> np.ndarray:
        numbers = rows.column(1).to_numpy()
        known = numbers < len(self._places)
        return np.where(known, self._places[np.where(known, numbers, 0)], -1)

    def _named(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        places = self._places_of(rows)
        for place, count in enumerate(np.bincount(places).tolist()):
            if count:
                self.note(self._names[place], count)
        names = pa.array(self._names, pa.string()).take(pa.array(places))
        columns = dict(zip(rows.schema.names, rows.columns, strict=True)) | {"query": names}
        return pa.RecordBatch.from_arrays([columns[name] for name in self._schema.names], schema=self._schema)
