"""Harvest fractions one slice at a time (GrubJoin, section V-A): forwards from nothing, or backwards from everything.

Forwards, every step adds the slice with the best metric that the budget still allows. Backwards, every step takes away
the slice, or the direction, that is missed least by the metric, until the budget is met;
what the last one freed beyond need is filled forwards.

    metric              forwards: the most of          backwards: the most of
    output              O                              O
    output per cost     O / C                          O / C
    delta               delta O / delta C              -(O lost / C saved)

Double-sided is whichever has fewer steps to go: forwards if z <= 0.5 ** ((m - 1) / 2) for m streams. It then tries
whether one direction alone is the better beginning (so where results are spread evenly and budgets are small), and
exchanges single slices for others while that gains anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dovetail.control.harvest_model import Direction, Floats, Setting
from dovetail.engine.kernels import greedy_steps
from dovetail.model.harvest import Metric

_METRICS = {"output": greedy_steps.OUTPUT, "output per cost": greedy_steps.OUTPUT_PER_COST, "delta": greedy_steps.DELTA}
_ROUNDS = 4  # of exchanging one step for another; a round that gains nothing is the last

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Arrays:
    """The model as the loops want it: every step with as many slices as the longest."""

    rates: Floats
    fanouts: Floats
    costs: Floats
    yields: Floats

    @staticmethod
    def of(directions: Sequence[Direction]) -> "_Arrays":
        longest = max(step.slices for direction in directions for step in direction.steps) + 1
        fanouts = [[step.fanout for step in direction.steps] for direction in directions]
        costs = [[_padded(step.costs, longest) for step in direction.steps] for direction in directions]
        yields = [[_padded(step.yields, longest) for step in direction.steps] for direction in directions]
        rates = [direction.rate for direction in directions]
        return _Arrays(*(np.array(part, np.float64) for part in (rates, fanouts, costs, yields)))

    @property
    def parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.rates, self.fanouts, self.costs, self.yields


def _padded(values: tuple[float, ...], length: int) -> tuple[float, ...]:
    return values + (values[-1],) * (length - len(values))


def solve_forwards(directions: Sequence[Direction], budget: float, metric: Metric = "delta") -> Setting:
    """From nothing, slice by slice."""
    slices = _slices(directions)
    counts = np.zeros_like(slices)
    frozen = np.zeros((len(directions), slices.shape[1] + 1), np.bool_)
    greedy_steps.add_slices(*_Arrays.of(directions).parts, slices, counts, frozen, budget, _METRICS[metric])
    return _setting(counts)


def solve_backwards(directions: Sequence[Direction], budget: float, metric: Metric = "delta") -> Setting:
    """From everything, slice by slice."""
    slices, parts = _slices(directions), _Arrays.of(directions).parts
    counts, frozen = slices.copy(), np.zeros((len(directions), slices.shape[1] + 1), np.bool_)
    greedy_steps.remove_slices(*parts, counts, budget, _METRICS[metric], -1, 0)
    greedy_steps.add_slices(*parts, slices, counts, frozen, budget, _METRICS[metric])
    return _setting(counts)


def solve_double_sided(directions: Sequence[Direction], z: float, budget: float, metric: Metric = "delta") -> Setting:
    """From the nearer end, and then slice for slice."""
    solve = solve_forwards if goes_forwards(len(directions), z) else solve_backwards
    counts = np.array(solve(directions, budget, metric), np.int64)
    parts, slices = _Arrays.of(directions).parts, _slices(directions)
    greedy_steps.concentrate(*parts, slices, counts, budget, _METRICS[metric])
    greedy_steps.polish(*parts, slices, counts, budget, _METRICS[metric], _ROUNDS)
    return _setting(counts)


def goes_forwards(streams: int, z: float) -> bool:
    """Whether few slices are to be chosen rather than few left out."""
    return bool(z <= 0.5 ** ((streams - 1) / 2))


def _slices(directions: Sequence[Direction]) -> Whole:
    return np.array([direction.full for direction in directions], np.int64)


def _setting(counts: Whole) -> Setting:
    return tuple(tuple(row) for row in counts.tolist())
