"""A join that has too little CPU, on a simulated clock: the real engine, and comparisons instead of seconds.

The simulation is ``dovetail.testing.overload``: the CPU time that a join's budget is charged for is what the engine
itself has compared, at so many comparisons per second: the capacity. Here are what the papers' figures ask for beside
it: probe orders that stay, a throttle that is imposed, time that cannot be saved. Arrivals are handed in every tenth
of a second of stream time, or whatever ``step_s`` says.

    >>> streams = {name: grub_rows(at, (20.0,), 8.0, 10.0, 0.0, 2.0) for at, name in enumerate(("S1", "S2"))}
    >>> load = Load(streams, near_query(("S1", "S2"), 20.0, dv.budget(cpu=1.0)), seconds=10.0, warm_s=0.0)
    >>> run = served(load, capacity=1e9)
    >>> run.results > 0, run.dropped
    (True, 0.0)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.control.steered import Steered
from dovetail.control.throttle import Throttle
from dovetail.model.shedding import Shed
from dovetail.plan.plan_query import plan_query
from dovetail.testing import Overloaded, correlated_values
from dovetail.testing.metered import MeteredRun
from dovetail.testing.overload import in_steps, played
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


@dataclass(frozen=True)
class Served:
    """Per second after warming up: results, comparisons, CPU time here; the share of tuples dropped; the throttle.

    ``completeness``: the share of all results, by the join's own estimate, from the beginning on.
    """

    results: float
    compared: float
    cpu_s: float
    dropped: float
    moments: Sequence[float]
    throttles: Sequence[float]
    completeness: float


class _Imposed(Throttle):
    """Stays as it is."""

    def adapt(self, consumed: float, arrived: float) -> None:
        pass

    def move(self, z: float, kept: float) -> None:
        pass


class Arranged(MeteredRun):
    """A metered run with fixed probe orders, an imposed throttle, or time that cannot be saved, as the load says."""

    def __init__(self, load: Load, capacity: float) -> None:
        plan = plan_query(load.query.model, load.orders) if load.orders else None
        super().__init__(load.query, capacity / load.dearer, plan, load.decision_s)
        self._load = load
        if load.orders:
            self._keep_orders(load.orders)
        if load.imposed is not None:
            self.cpu.control.throttle = _Imposed(boost=1.0, z=load.imposed, fixed=True)
        self.run.tick(0)

    def _keep_orders(self, kept: Orders) -> None:
        self.controller.replanning = None
        self.cpu._reordered = lambda windows, rates, orders, supply: kept  # type: ignore[method-assign]

    def step(self, arrivals: Mapping[str, pa.Table], now_us: int) -> list[pa.Table]:
        """Arrivals come in, then time passes; the results of both."""
        found = super().step({name: rows for name, rows in arrivals.items() if rows.num_rows}, now_us)
        if not self._load.saves:
            self.cpu.time.credit_s = min(self.cpu.time.credit_s, 0.0)
        if self._load.opened_s is not None and now_us == round(self._load.opened_s * _SECOND):
            self.cpu.control.throttle = Throttle(self._load.query.model.budget.settings.boost)  # type: ignore[union-attr]
            (readings,) = self.run.operator.statistics()
            assert isinstance(self.run.operator, Steered)
            self.run.operator.adopt(replace(readings.decision, shed=Shed()))
            found.append(self.run.tick(now_us))  # from here on it is in force
        return found


def overloaded(load: Load, capacity: float) -> Overloaded:
    """The whole run, step by step, and its rows."""
    return played(Arranged(load, capacity), load.streams, load.step_s, load.seconds)


def served(load: Load, capacity: float) -> Served:
    """What came of it."""
    return summary(load, overloaded(load, capacity))


def summary(load: Load, log: Overloaded) -> Served:
    """What came of a run."""
    since, step_s = load.warm_s, load.step_s
    first, after = round(since / step_s), load.seconds - since
    arrived = sum(_count_from(rows, since) for rows in load.streams.values())
    before = log.drops[first - 1] if first else 0
    return Served(
        log.results(since, step_s) / after,
        log.compared(since, step_s) / after,
        sum(log.cpu_s[first:]) / after,
        (log.drops[-1] - before) / max(arrived, 1),
        [(number + 1) * step_s for number in range(len(log.counts))],
        log.throttles,
        log.metrics["completeness"],
    )


def _count_from(rows: pa.Table, since_s: float) -> int:
    return int((rows["ts"].cast(pa.int64()).to_numpy() >= since_s * _SECOND).sum())


def steps(
    streams: Mapping[str, pa.Table], seconds: float, step_s: float
) -> Iterator[tuple[float, dict[str, pa.Table]]]:
    """What comes in until each moment."""
    times = {name: rows["ts"].cast(pa.int64()).to_numpy() for name, rows in streams.items()}
    for now_us, cut in in_steps(streams, times, round(seconds * _SECOND), round(step_s * _SECOND)):
        yield now_us / _SECOND, {name: rows for name, rows in cut.items() if rows.num_rows}


def near_query(
    names: Sequence[str], window_s: float, budget: dv.Budget | None, partitions: int | None = None
) -> dv.Query:
    """Tuples whose values are all within 1 of each other; windows are scanned."""
    streams = [dv.stream(name, time="ts", window=f"{window_s} seconds", schema=_SCHEMA) for name in names]
    near = " AND ".join(f"ABS({a}.x - {b}.x) <= 1" for a, b in combinations(names, 2))
    stored = dict.fromkeys(names, "scan")
    options: Any = {"algorithm": stored, "budget": budget, "partitions": partitions}
    return dv.join(*streams, on=near, select="S1.ts AS at", **options)


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
