"""What to leave out next: the throttle, what was learned and a policy in, a decision out.

    harvest     slices of windows, by the solver; tuples as well where that promises more (``keep_or_look``)
    drop        tuples: RandomDrop with the keep rates that give most for the same cost, and for what can be stored

With ``min_completeness`` less is left out than the throttle asks for where the model, or the last interval's own
estimate, says that too much would be missing; then the budget is short, and says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import Any

from dovetail.control.correlations import Correlations, Window, directions_of
from dovetail.control.drop_rates import Arriving, total_cost
from dovetail.control.fractional_slice import Filled, add_fractional_slice
from dovetail.control.harvest_model import full_setting, total
from dovetail.control.keep_ages import finding, keep_ages, kept
from dovetail.control.keep_or_look import Choice, Way, best_way
from dovetail.control.solve_harvest import solve_harvest
from dovetail.control.spare_capacity import Supply
from dovetail.control.split_cpu_and_memory import split_cpu_and_memory
from dovetail.control.throttle import Throttle
from dovetail.engine.buffer.header import finite
from dovetail.model.budget import Budget
from dovetail.model.shedding import FAR, Pick, Picks, Shed

_LESS = 1.25  # a quarter: four steps more than double it, and one does not overshoot by much
_EASE = 0.97  # of the least that keeps enough is tried next, while enough is kept
_OVERHEAD = 1.0  # comparisons: what looking at a slice costs beside those in it
_LEAST = 1e-4  # some work is always done, so that something is learned


@dataclass(frozen=True)
class Situation:
    """One interval's end: arrivals per second, windows by direction and their order, completeness of late.

    ``tuples``: how many each window holds if nothing is dropped. ``capacity``: comparisons per second that the CPU
    given can make; ``supply``: the same as measured of late. ``kept``: of each stream until now. ``memory`` holds so
    much, if it is limited, and a tuple of each stream takes ``sizes`` of it.
    """

    rates: Mapping[str, float]
    windows: Mapping[str, Sequence[Window]]
    orders: Mapping[str, tuple[str, ...]]
    tuples: Mapping[str, float]
    capacity: float
    completeness: float
    supply: Supply
    kept: Mapping[str, float]
    memory: float = inf
    sizes: Mapping[str, float] | None = None

    @cached_property
    def choice(self) -> Choice:
        """The model."""
        return Choice(self.rates, directions_of(self.windows, self.rates), self.orders, self.kept)

    @cached_property
    def whole(self) -> float:
        """Results per second without any shedding."""
        directions = self.choice.thinned(dict.fromkeys(self.rates, 1.0))
        return total(directions, full_setting(directions))[0]


class ShedLoad:
    """The memory between two decisions."""

    def __init__(self, names: Sequence[str], budget: Budget) -> None:
        self._budget = budget
        self.throttle = Throttle(budget.settings.boost)
        self.correlations = Correlations(names)
        self.elsewhere: Sequence[Mapping[str, Any]] = ()  # the same as plain values, of other operators of the query
        self.short = False
        self._floor = budget.min_completeness or 0.0  # careful at first: so much work keeps about as many results
        self._way: Way | None = None

    def decide(self, now: Situation) -> Shed:
        """What to leave out until the next interval's end."""
        if self._budget.policy == "drop":
            self.throttle.z, self.throttle.kept = self._affordable(now), 1.0
        elif self._budget.settings.throttle == "spare":
            self._way = best_way(now.choice, now.supply, self._way)
            self.throttle.move(self._way.z, min(self._way.kept.values()))
        return self._decision(now)

    def _decision(self, now: Situation) -> Shed:
        z, least = self.throttle.z, self._budget.min_completeness
        if least is None:
            return self._as_found(now)
        self._floor = min(1.0, max(self._floor, z) * _LESS) if now.completeness < least else self._floor * _EASE
        needed = max(z, self._floor)
        everyone = dict.fromkeys(now.rates, 1.0)
        decision, expected = self._at(needed, everyone, now)
        while expected < least and needed < 1:
            needed = min(1.0, needed * _LESS)
            decision, expected = self._at(needed, everyone, now)
        self.short = needed > z or self.throttle.kept < 1
        return decision

    def _as_found(self, now: Situation) -> Shed:
        z, kept, way = self.throttle.z, self.throttle.kept, self._way
        if way is None or self.throttle.fixed:
            return self._at(z, dict.fromkeys(now.rates, kept), now)[0]
        return Shed(z, None, way.kept, _ages(now, None)) if way.whole else self._at(z, way.kept, now)[0]

    def _affordable(self, now: Situation) -> float:
        """The share of the full work that the CPU given can do: dropping fills windows less, but only with time."""
        everything = total_cost(_arriving(now), dict.fromkeys(now.rates, 1.0))
        return max(_LEAST, min(1.0, now.capacity / everything)) if everything else 1.0

    def _at(self, z: float, kept: Mapping[str, float], now: Situation) -> tuple[Shed, float]:
        """The decision for a throttle, and the share of results it keeps by the model."""
        if self._budget.policy == "drop":
            return _dropped(z, now)
        if z >= 1:
            return Shed(1.0, None, kept, _ages(now, None)), prod(kept.values())
        directions, settings = now.choice.thinned(kept), self._budget.settings
        setting = solve_harvest(directions, z, settings.solver, settings.metric)
        filled = add_fractional_slice(directions, setting, z * total(directions, full_setting(directions))[1])
        expected = filled.value(directions)[0] / now.whole if now.whole else 1.0
        picks = _picks(now, filled, empty_too=self._budget.min_completeness is not None)
        return Shed(z, picks, kept, _ages(now, picks)), expected

    def to_json(self) -> dict[str, Any]:
        """As plain values, for a header."""
        throttle = {
            "z": self.throttle.z,
            "kept": self.throttle.kept,
            "whole": self._way is not None and self._way.whole,
        }
        return {"throttle": throttle, "short": self.short, "floor": self._floor, **self.correlations.to_json()}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Back from plain values."""
        throttle = values["throttle"]
        self.throttle.z, self.throttle.kept = finite(throttle["z"]), finite(throttle["kept"])
        self._way = Way(self.throttle.z, {}, bool(throttle.get("whole", False)))
        self.short, self._floor = bool(values["short"]), finite(values["floor"])
        self.correlations.restore(values)


def _ages(now: Situation, picks: Mapping[str, Mapping[str, Pick]] | None) -> dict[str, int]:
    """Up to which age tuples are worth their memory, if it is limited."""
    if now.sizes is None:
        return {}
    windows = {name: dict(zip(now.orders[name], steps, strict=True)) for name, steps in now.windows.items()}
    chosen = {name: None if picks is None else picks[name] for name in windows}
    found = {name: finding(now.rates[name], each, chosen[name]) for name, each in windows.items()}
    seen = {other: each for some in windows.values() for other, each in some.items()}
    streams = {name: kept(now.rates[name], now.sizes[name], seen[name]) for name in windows}
    return keep_ages(streams, found, now.memory)


def _dropped(z: float, now: Situation) -> tuple[Shed, float]:
    """RandomDrop; the share of results it keeps is one where nothing is short."""
    arriving = _arriving(now)
    everything = total_cost(arriving, dict.fromkeys(now.rates, 1.0))
    both, whole = (
        split_cpu_and_memory(arriving, *limits) for limits in ((z * everything, now.memory, now.sizes), (everything,))
    )
    return Shed(z, None, both.kept), both.output / whole.output if whole.output else 1.0


def _arriving(now: Situation) -> list[Arriving]:
    """The directions with windows as they are when nothing is dropped."""
    return [
        Arriving(
            name,
            now.rates[name],
            _OVERHEAD,
            now.orders[name],
            tuple(now.tuples[other] for other in now.orders[name]),
            tuple(
                window.step.fanout / max(window.tuples, 1.0) * now.tuples[other]
                for other, window in zip(now.orders[name], steps, strict=True)
            ),
        )
        for name, steps in now.windows.items()
    ]


def _picks(now: Situation, filled: Filled, empty_too: bool) -> Picks:
    """By arriving and probed stream."""
    return {
        name: {
            stream: _pick(window, count, filled.share(at, step), empty_too)
            for step, (stream, window, count) in enumerate(zip(now.orders[name], windows, counts, strict=True))
        }
        for at, ((name, windows), counts) in enumerate(zip(now.windows.items(), filled.setting, strict=True))
    }


def _pick(window: Window, count: int, part: float, empty_too: bool) -> Pick:
    """The best slices of a window; those without tuples, which may still come, if all others or ``empty_too``."""
    edges, ranked, empty = tuple(window.edges.tolist()), window.ranked, window.empty
    if not ranked:
        return Pick(edges, empty, len(empty) if count or part else 0)
    if part and FAR in (-edges[ranked[count]], edges[ranked[count] + 1]):
        part = 0.0  # what is endless has no part
    if (count or part) and (empty_too or count >= len(ranked)):
        return Pick(edges, (*empty, *ranked), len(empty) + count, part)
    return Pick(edges, (*ranked, *empty), count, part)
