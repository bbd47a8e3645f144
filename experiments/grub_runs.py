"""Grub's stochastic streams joined with too little CPU: by harvesting, and by dropping tuples at random.

X_i(t) = (D / eta)(t + lag_i) + kappa_i N(0, 1) mod D, with D = 1000 and eta = 50; tuples match if all their values are
within 1 of each other; windows of 20 s in slices of 2 s; the first 20 s warm up. The capacity is what the full join of
three streams compares at 100 tuples/s each. RandomDrop is the paper's: keep rates from the static optimum for the
rates, window sizes and fan-outs of the full join, then the real join on what is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.control.drop_rates import Arriving, keep_rates, total_cost
from experiments.overload import Load, Served, grub_rows, near_query, served, steps
from experiments.server import Operators, Orders

Fixed = tuple[tuple[str, ...], ...] | None

WINDOW_S = 20.0
_KNOWN = 50.0  # tuples per second at which fan-outs are taken
# how S1's arrivals may look; those of S2 and S3 look where, of lagged streams, nothing matches yet
ORDERS: dict[str, Fixed] = {
    f"into {one} first": ((one, other), ("S1", "S3"), ("S1", "S2")) for one, other in (("S2", "S3"), ("S3", "S2"))
}
AS_THEIRS = "into S2 first"
ALIGNED, LAGGED = (0.0, 0.0, 0.0), (0.0, 5.0, 15.0)


@dataclass(frozen=True)
class Setting:
    """The streams, and the settings of the harvest."""

    rates: tuple[float, ...] = (100.0,)
    lags: tuple[float, ...] = LAGGED
    deviations: tuple[float, ...] = (2.0, 2.0, 50.0)
    period_s: float = 60.0
    seconds: float = 60.0
    warm_s: float = 20.0
    slice_s: float = 2.0
    interval_s: float = 5.0
    buffer: int | None = None
    dearer: float = 1.0
    decision_s: float = 0.0
    step_s: float = 0.1
    orders: Fixed = None
    imposed: float | None = None
    opened_s: float | None = None
    saves: bool = True
    throttle: str = "spare"
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"S{place + 1}" for place in range(len(self.lags)))

    @property
    def probes(self) -> Orders | None:
        """Probe orders, if they are fixed."""
        return dict(zip(self.names, self.orders, strict=True)) if self.orders else None

    def at(self, rate: float) -> "Setting":
        return replace(self, rates=(rate,))


def short(quick: bool) -> Setting:
    """The paper's minute; 40 s, and coarser steps, for a short run."""
    return Setting(seconds=40.0, step_s=0.5) if quick else Setting(step_s=0.25)


@cache
def harvested(setting: Setting, capacity: float) -> Served:
    """The join under a budget of so many comparisons per second."""
    policy = dv.harvest(
        interval=f"{setting.interval_s} seconds",
        slice=f"{setting.slice_s} seconds",
        buffer=setting.buffer,
        throttle=setting.throttle,
    )
    query = near_query(setting.names, WINDOW_S, dv.budget(cpu=1.0, policy=policy))
    return served(_load(setting, query), capacity)


def _load(setting: Setting, query: dv.Query) -> Load:
    return Load(
        streams_of(setting),
        query,
        setting.seconds,
        setting.warm_s,
        setting.step_s,
        setting.dearer,
        setting.decision_s,
        setting.probes,
        setting.imposed,
        setting.opened_s,
        setting.saves,
    )


def streams_of(setting: Setting) -> dict[str, pa.Table]:
    """The tuples of each."""
    return {
        name: grub_rows(
            10 * setting.seed + place,
            setting.rates,
            setting.period_s,
            setting.seconds,
            setting.lags[place],
            setting.deviations[place],
        )
        for place, name in enumerate(setting.names)
    }


def kept_of(streams: Mapping[str, pa.Table], kept: Sequence[float]) -> dict[str, pa.Table]:
    """A random part of each, by its share."""
    random = np.random.default_rng(1)
    return {
        name: rows.filter(pa.array(random.random(rows.num_rows) < share))
        for (name, rows), share in zip(streams.items(), kept, strict=True)
    }


@dataclass(frozen=True)
class Full:
    """The join without a budget: results and comparisons per second, and matches per look by direction and step."""

    results: float
    compared: float
    fanouts: dict[str, tuple[float, ...]]
    orders: dict[str, tuple[str, ...]]


@cache
def full(setting: Setting, kept: tuple[float, ...] | None = None) -> Full:
    """The real join, of all tuples or of a random part of each stream."""
    streams = streams_of(setting) if kept is None else kept_of(streams_of(setting), kept)
    operators = Operators(near_query(setting.names, WINDOW_S, None), setting.probes)
    results, before = 0, operators.steps()
    for now_s, batches in steps(streams, setting.seconds, setting.step_s):
        found = operators.push(now_s, batches).results
        if now_s > setting.warm_s:
            results += found
        else:
            before = operators.steps()
    after = setting.seconds - setting.warm_s
    since = {at: (c - before[at][0], m - before[at][1]) for at, (c, m) in operators.steps().items()}
    orders = {name: tuple(level.stream for level in levels) for name, levels in operators.plan.probes.items()}
    fanouts = {
        name: tuple(since[name, j][1] / max(since[name, j][0], 1) for j in range(len(order)))
        for name, order in orders.items()
    }
    windows = {name: rows.num_rows / setting.seconds * WINDOW_S for name, rows in streams.items()}
    compared = sum(
        since[name, j][0] * windows[other] for name, order in orders.items() for j, other in enumerate(order)
    )
    return Full(results / after, compared / after, fanouts, orders)


def capacity_of(setting: Setting, rate: float = 100.0) -> float:
    """What the full join of three streams compares per second, each at this rate, as a budget counts it."""
    return harvested(_three(setting).at(rate), 1e15).compared


def _three(setting: Setting) -> Setting:
    lags, deviations = setting.lags[:3], setting.deviations[:3]
    base = Setting(lags=lags, deviations=deviations, seconds=setting.seconds, warm_s=20.0, step_s=setting.step_s)
    return replace(base, seed=setting.seed)


def _directions(setting: Setting) -> list[Arriving]:
    """The cost model of the full join: its rates, its windows, its fan-outs, which grow as the windows do."""
    known, rate = full(replace(setting, dearer=1.0).at(_KNOWN)), setting.rates[0]
    windows = (rate * WINDOW_S,) * (len(setting.names) - 1)
    fanouts = {name: tuple(each * rate / _KNOWN for each in some) for name, some in known.fanouts.items()}
    return [Arriving(name, rate, 1.0, known.orders[name], windows, fanouts[name]) for name in setting.names]


def keeping(setting: Setting) -> tuple[float, ...]:
    """How much of each stream the static optimum keeps for what three streams cost at 100 tuples/s."""
    affordable = _directions(_three(setting).at(100.0))
    budget = total_cost(affordable, dict.fromkeys([each.stream for each in affordable], 1.0)) / setting.dearer
    kept = keep_rates(_directions(setting), budget)
    return tuple(round(kept[name], 4) for name in setting.names)


def dropped(setting: Setting) -> Full:
    """RandomDrop: the join of what is kept."""
    return full(replace(setting, dearer=1.0), keeping(setting))


def gain(setting: Setting, capacity: float) -> tuple[float, float, float]:
    """Results per second of harvesting and of RandomDrop, and how much more the first is."""
    ours, theirs = harvested(setting, capacity).results, dropped(setting).results
    return ours, theirs, ours / theirs - 1 if theirs else float("inf")
