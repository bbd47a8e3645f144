"""A run with a CPU budget on a made-up CPU: its time is the comparisons that it has itself made.

The join is the real one, and the budget is kept as it would be; only the clock is not this machine's. Example: 1,000
comparisons a second, and a hundred tuples of A that meet the first hundred of B take ten seconds.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", window="1 hour", schema=schema) for name in "AB")
    >>> query = dv.join(a, b, on="A.k = B.k", algorithm="scan", budget=dv.budget(cpu=1))
    >>> run = MeteredRun(query, capacity=1000)
    >>> rows = pa.table({"ts": pa.array(range(100), pa.timestamp("us")), "k": range(100)})
    >>> sum(found.num_rows for found in run.step({"B": rows, "A": rows}, 1_000_000)), run.compared, run.used_s()
    (100, 10000, 10.0)
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.api import Query
from dovetail.control.controller import Controller
from dovetail.control.cpu_budget import CpuBudget
from dovetail.control.steered import Steered
from dovetail.plan.physical import Plan
from dovetail.runtime.local import Run


class MeteredRun:
    """``capacity``: comparisons per second. ``decision_s``: what each decision of the budget takes beside them.

    ``plan``: another than the query's own. ``row``: how many comparisons it takes to let a tuple in.
    """

    def __init__(
        self, query: Query, capacity: float, plan: Plan | None = None, decision_s: float = 0.0, row: float = 0.0
    ) -> None:
        assert query.model.budget is not None, "a query without a budget is never short of anything"
        self._query, self._capacity, self._decision_s, self._row = query, capacity, decision_s, row
        self._interval_us = query.model.budget.settings.interval_us
        self._decisions = 0
        self._begun = False
        self.run = Run(plan or query.plan, meter=self.used_s)
        self._begun = True

    def used_s(self) -> float:
        """Simulated seconds of CPU so far."""
        if not self._begun:
            return 0.0
        (readings,) = self.run.operator.statistics()
        done = self.compared + self._row * sum(readings.joined().values()) if self._row else self.compared
        return done / self._capacity

    def step(self, arrivals: Mapping[str, pa.Table], now_us: int) -> list[pa.Table]:
        """Rows come in, then time passes; the results of both."""
        found = [self.run.push(name, rows) for name, rows in arrivals.items()]
        found.append(self.run.tick(now_us))
        before, self._decisions = self._decisions, now_us // self._interval_us
        if self._decision_s:
            self.cpu.time.spend((self._decisions - before) * self._decision_s)
        return found

    def close(self) -> pa.Table:
        """Join what still waits, whatever the time."""
        return self.run.close()

    def times(self, stream: str, rows: pa.Table) -> npt.NDArray[np.int64]:
        """The event times of a stream's rows, in microseconds."""
        found: npt.NDArray[np.int64] = rows[self._query.model.stream(stream).time].cast(pa.int64()).to_numpy()
        return found

    @property
    def controller(self) -> Controller:
        """What steers the join."""
        assert isinstance(self.run.operator, Steered)
        return self.run.operator.controller

    @property
    def cpu(self) -> CpuBudget:
        """Its budget."""
        assert self.controller.cpu is not None
        return self.controller.cpu

    @property
    def schema(self) -> pa.Schema:
        """Of the results."""
        return self._query.schema

    @property
    def compared(self) -> int:
        """Comparisons so far."""
        return int(self.shedding.counts["compared"])

    @property
    def dropped(self) -> int:
        """Tuples that were not let in so far."""
        return int(sum(self.shedding.dropped.values()))

    @property
    def throttle(self) -> float:
        """The share of the full work that is done now."""
        return float(self.shedding.decision.throttle)

    @property
    def shedding(self) -> Any:
        """What the engine leaves out."""
        (readings,) = self.run.operator.statistics()
        return readings.shedding

    def metrics(self) -> dict[str, Any]:
        """The budget's own account."""
        account: dict[str, Any] = self.run.metrics()["budget"]
        return account
