"""A join that has too little CPU, on a simulated clock: the real engine, and comparisons instead of seconds.

The CPU time that a join's budget is charged for is what the engine itself has compared, at so many comparisons per
second: the capacity. Arrivals are handed in every tenth of a second of stream time, or whatever ``step_s`` says.

    >>> streams = {name: grub_rows(at, (20.0,), 8.0, 10.0, 0.0, 2.0) for at, name in enumerate(("S1", "S2"))}
    >>> load = Load(streams, near_query(("S1", "S2"), 20.0, dv.budget(cpu=1.0)), seconds=10.0, warm_s=0.0)
    >>> run = served(load, capacity=1e9)
    >>> run.results > 0, run.dropped
    (True, 0.0)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.control.throttle import Throttle
from dovetail.model.shedding import Shed
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.cpu_budget import CpuBudget
from dovetail.runtime.local import Run
from dovetail.testing import correlated_values
from experiments.server import Orders

_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
_SECOND = 1_000_000


@dataclass(frozen=True)
class Load:
    """Streams (with a column ``ts``), a query with a budget, and how long; the first seconds only warm up.

    ``dearer``: how many comparisons one counts for. ``decision_s``: simulated seconds that each decision takes.
    ``orders``: the probe orders, which then stay. ``imposed``: the throttle, whatever there is to do, until it is set
    to 1 at ``opened_s``, to find its way. ``saves``: whether time without work may be used later.
    """

    streams: Mapping[str, pa.Table]
    query: dv.Query
    seconds: float = 60.0
    warm_s: float = 20.0
    step_s: float = 0.1
    dearer: float = 1.0
    decision_s: float = 0.0
    orders: Orders | None = None
    imposed: float | None = None
    opened_s: float | None = None
    saves: bool = True


@dataclass
class Served:
    """Per second after warming up: results, comparisons; the share of tuples dropped; the throttle as it went."""

    results: float = 0.0
    compared: float = 0.0
    dropped: float = 0.0
    moments: list[float] = field(default_factory=list)
    throttles: list[float] = field(default_factory=list)
    rows: list[pa.Table] = field(default_factory=list)


class _Imposed(Throttle):
    """Stays as it is."""

    def adapt(self, consumed: float, arrived: float) -> None:
        pass


class _Metered:
    """A run whose CPU time is what it has compared."""

    def __init__(self, load: Load, capacity: float) -> None:
        self._load, self._capacity = load, capacity
        self._runs: list[Run] = []
        self._interval_s = load.query.model.budget.settings.interval_us / _SECOND  # type: ignore[union-attr]
        self._decisions = 0
        self._runs.append(self._begun())
        if load.imposed is not None:
            self._cpu.control.throttle = _Imposed(boost=1.0, z=load.imposed)
        self.run.tick(0)

    def _begun(self) -> Run:
        orders = self._load.orders
        if orders is None:
            return Run(self._load.query.plan, meter=self.used)
        run = Run(plan_query(self._load.query.model, orders), meter=self.used)
        run._engine.between_blocks = None
        run._cpu._reordered = lambda windows, rates: orders  # type: ignore[union-attr, method-assign]
        return run

    @property
    def run(self) -> Run:
        return self._runs[0]

    @property
    def _cpu(self) -> CpuBudget:
        assert self.run._cpu is not None
        return self.run._cpu

    @property
    def _shedding(self) -> Any:
        return self.run._engine.shedding

    def used(self) -> float:
        """Simulated seconds so far."""
        spent = self.compared * self._load.dearer / self._capacity if self._runs else 0.0
        return spent + self._decisions * self._load.decision_s

    @property
    def compared(self) -> int:
        return int(self._shedding.counts["compared"])

    @property
    def dropped(self) -> int:
        return int(sum(self._shedding.dropped.values()))

    @property
    def throttle(self) -> float:
        return float(self._shedding.decision.throttle)

    def step(self, batches: Mapping[str, pa.Table], now_s: float) -> list[pa.Table]:
        """Arrivals come in, then time passes; the results of both."""
        found = [self.run.push(name, rows) for name, rows in batches.items()]
        self._decisions = int(now_s / self._interval_s)
        found.append(self.run.tick(round(now_s * _SECOND)))
        if not self._load.saves:
            self._cpu._credit_s = min(self._cpu._credit_s, 0.0)
        if self._load.opened_s is not None and abs(now_s - self._load.opened_s) < 1e-6:
            self._cpu.control.throttle = Throttle(self._load.query.model.budget.settings.boost)  # type: ignore[union-attr]
            self._shedding.follow(Shed())
        return found


def served(load: Load, capacity: float) -> Served:
    """The whole run."""
    metered, log = _Metered(load, capacity), Served()
    results = arrived = 0
    before = (0, 0)
    for now_s, batches in steps(load.streams, load.seconds, load.step_s):
        found = metered.step(batches, now_s)
        if now_s > load.warm_s:
            results += sum(table.num_rows for table in found)
            arrived += sum(rows.num_rows for rows in batches.values())
            log.rows += [table for table in found if table.num_rows]
        else:
            before = metered.compared, metered.dropped
        log.moments.append(now_s)
        log.throttles.append(metered.throttle)
    after = load.seconds - load.warm_s
    log.results, log.compared = results / after, (metered.compared - before[0]) / after
    log.dropped = (metered.dropped - before[1]) / max(arrived, 1)
    return log


def steps(
    streams: Mapping[str, pa.Table], seconds: float, step_s: float
) -> Iterator[tuple[float, dict[str, pa.Table]]]:
    """What comes in until each moment."""
    times = {name: rows["ts"].cast(pa.int64()).to_numpy() for name, rows in streams.items()}
    start = dict.fromkeys(streams, 0)
    for number in range(1, round(seconds / step_s) + 1):
        now_s = number * step_s
        stop = {name: int(np.searchsorted(at, now_s * _SECOND)) for name, at in times.items()}
        cut = {name: rows.slice(start[name], stop[name] - start[name]) for name, rows in streams.items()}
        yield now_s, {name: rows for name, rows in cut.items() if rows.num_rows}
        start = stop


def near_query(names: Sequence[str], window_s: float, budget: dv.Budget | None) -> dv.Query:
    """Tuples whose values are all within 1 of each other; windows are scanned."""
    streams = [dv.stream(name, time="ts", window=f"{window_s} seconds", schema=_SCHEMA) for name in names]
    near = " AND ".join(f"ABS({a}.x - {b}.x) <= 1" for a, b in combinations(names, 2))
    stored = dict.fromkeys(names, "scan")
    return dv.join(*streams, on=near, select="S1.ts AS at", algorithm=stored, budget=budget)


def grub_rows(
    place: int, rates: Sequence[float], period_s: float, seconds: float, lag: float, deviation: float
) -> pa.Table:
    """One of Grub's stochastic streams, at rates that change every period; no two streams share a moment."""
    times, now = [], 0.0
    for number in range(int(np.ceil(seconds / period_s))):
        until = min((number + 1) * period_s, seconds)
        times.append(np.arange(now, until, 1 / rates[number % len(rates)]))
        now = until
    at = np.round(np.concatenate(times) * _SECOND).astype(np.int64) + place
    values = correlated_values(at, lag, deviation, seed=place)
    return pa.table([pa.array(at).cast(pa.timestamp("us")), values], schema=_SCHEMA)
