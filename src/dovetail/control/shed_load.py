"""What to leave out next: the throttle, what was learned and a policy in, a decision out.

    harvest     slices of windows, by the solver; tuples only where even the smallest setting is too much
    drop        tuples: RandomDrop with the keep rates that give most for the same cost, and for what can be stored

With ``min_completeness`` less is left out than the throttle asks for where the model, or the last interval's own
estimate, says that too much would be missing; then the budget is short, and says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from dovetail.control.correlations import Correlations, Window, directions_of
from dovetail.control.drop_rates import Arriving, total_cost
from dovetail.control.fractional_slice import Filled, add_fractional_slice
from dovetail.control.harvest_model import Direction, full_setting, total
from dovetail.control.keep_ages import finding, keep_ages, kept
from dovetail.control.solve_harvest import solve_harvest
from dovetail.control.split_cpu_and_memory import split_cpu_and_memory
from dovetail.control.throttle import Throttle
from dovetail.model.budget import Budget
from dovetail.model.shedding import FAR, Pick, Picks, Shed

_LESS = 1.25
_OVERHEAD = 1.0
_LEAST = 1e-4
_IDLE = 0.8  # with less than this share of the CPU in use there is no reason to do as little as before


@dataclass(frozen=True)
class Situation:
    """One interval's end: arrivals per second, windows by direction and their order, completeness of late.

    ``tuples``: how many each window holds if nothing is dropped. ``capacity``: comparisons per second that the CPU
    given can make; ``in_force``: those of the slices that are looked through until now. ``memory`` holds so much, if
    it is limited, and a tuple of each stream takes ``sizes`` of it.
    """

    rates: Mapping[str, float]
    windows: Mapping[str, Sequence[Window]]
    orders: Mapping[str, tuple[str, ...]]
    tuples: Mapping[str, float]
    capacity: float
    completeness: float
    in_force: float
    memory: float = inf
    sizes: Mapping[str, float] | None = None

    @cached_property
    def directions(self) -> list[Direction]:
        """The model."""
        return directions_of(self.windows, self.rates)

    @cached_property
    def whole(self) -> tuple[float, float]:
        """Results and comparisons per second without any shedding."""
        return total(self.directions, full_setting(self.directions))


class ShedLoad:
    """The memory between two decisions."""

    def __init__(self, names: Sequence[str], budget: Budget) -> None:
        self._budget = budget
        self.throttle = Throttle(budget.settings.boost)
        self.correlations = Correlations(names)
        self.short = False
        self._floor = 0.0
        self._share = 1.0

    def decide(self, now: Situation) -> Shed:
        """What to leave out until the next interval's end."""
        if self._budget.policy == "drop":
            self.throttle.z, self.throttle.kept = self._affordable(now), 1.0
        else:
            self._restate(now)
        return self._decision(now)

    def _restate(self, now: Situation) -> None:
        """The throttle for the same work, as a share of what everything is now known to be; more if there is time."""
        if now.in_force > 0 and self._share > 0:
            factor = now.in_force / now.whole[1] / self._share
            idle = now.in_force < _IDLE * now.capacity
            self.throttle.restate(max(1.0, factor) if idle else factor)

    def _decision(self, now: Situation) -> Shed:
        z, least = self.throttle.z, self._budget.min_completeness
        if least is None:
            return self._at(z, self.throttle.kept, now)[0]
        self._floor = min(1.0, max(self._floor, z) * _LESS) if now.completeness < least else self._floor * 0.9
        needed = max(z, self._floor)
        decision, expected = self._at(needed, 1.0, now)
        while expected < least and needed < 1:
            needed = min(1.0, needed * _LESS)
            decision, expected = self._at(needed, 1.0, now)
        self.short = needed > z or self.throttle.kept < 1
        return decision

    def _affordable(self, now: Situation) -> float:
        """The share of the full work that the CPU given can do: dropping fills windows less, but only with time."""
        everything = total_cost(_arriving(now), dict.fromkeys(now.rates, 1.0))
        return max(_LEAST, min(1.0, now.capacity / everything)) if everything else 1.0

    def _at(self, z: float, kept: float, now: Situation) -> tuple[Shed, float]:
        """The decision for a throttle, and the share of results it keeps by the model."""
        if self._budget.policy == "drop":
            return _dropped(z, now)
        everyone = dict.fromkeys(now.rates, kept)
        if z >= 1:
            self._share = 1.0
            return Shed(1.0, None, everyone, _ages(now, None)), kept ** len(now.rates)
        directions, settings = now.directions, self._budget.settings
        whole_output, whole_cost = now.whole
        setting = solve_harvest(directions, z, settings.solver, settings.metric)
        filled = add_fractional_slice(directions, setting, z * whole_cost)
        output, cost = filled.value(directions)
        self._share = cost / whole_cost if whole_cost else 0.0
        expected = output / whole_output if whole_output else 1.0
        picks = _picks(now, filled, empty_too=self._budget.min_completeness is not None)
        return Shed(z, picks, everyone, _ages(now, picks)), expected * kept ** len(now.rates)

    def to_json(self) -> dict[str, Any]:
        """As plain values, for a header."""
        throttle = {"z": self.throttle.z, "kept": self.throttle.kept, "share": self._share}
        return {"throttle": throttle, "short": self.short, "floor": self._floor, **self.correlations.to_json()}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Back from plain values."""
        self.throttle.z, self.throttle.kept = values["throttle"]["z"], values["throttle"]["kept"]
        self.short, self._floor, self._share = values["short"], values["floor"], values["throttle"]["share"]
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
