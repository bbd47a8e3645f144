"""What looking through only part of the windows costs and yields (GrubJoin, Gedik et al., section IV-C).

A direction is what one stream's arrivals do: they look through the other windows in an order. Each window is divided
into slices (basic windows) by age, ranked by how many results they promise; ``counts[j]`` of the best are looked
through in step j. With N_j the partial results that reach step j:

    cost    C_i = sum_j  N_j * (tuples in the chosen slices)          N_1 = 1
    output  O_i = N_m                                                 N_(j+1) = N_j * fan-out_j * P_j(counts[j])

P_j is the share of the matches that lie in the chosen slices. Example: a window of 4 tuples in two slices, which
holds 3 matches of an arrival, 80 % of them in the better slice; then a second window of the same kind.

    >>> step = HarvestStep(fanout=3.0, costs=(0.0, 2.0, 4.0), yields=(0.0, 0.8, 1.0))
    >>> direction = Direction(rate=1.0, steps=(step, step))
    >>> [round(part, 2) for part in direction.value((1, 2))]
    [7.2, 11.6]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = tuple[int, ...]
Setting = tuple[Counts, ...]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HarvestStep:
    """One window of a direction; ``costs`` and ``yields`` of its 0, 1, 2, ... best slices together."""

    fanout: float
    costs: tuple[float, ...]
    yields: tuple[float, ...]

    @property
    def slices(self) -> int:
        return len(self.costs) - 1


@dataclass(frozen=True)
class Direction:
    """One arriving stream: its tuples per second, and the windows it looks through in their order."""

    rate: float
    steps: tuple[HarvestStep, ...]

    def value(self, counts: Counts) -> tuple[float, float]:
        """Output and cost per second."""
        reached, cost = self.rate, 0.0
        for step, count in zip(self.steps, counts, strict=True):
            cost += reached * step.costs[count]
            reached *= step.fanout * step.yields[count]
        return reached, cost

    @property
    def full(self) -> Counts:
        return tuple(step.slices for step in self.steps)

    @property
    def off(self) -> Counts:
        return (0,) * len(self.steps)

    @property
    def least(self) -> Counts:
        """The smallest setting that can give results."""
        return (1,) * len(self.steps)


def total(directions: Sequence[Direction], setting: Setting) -> tuple[float, float]:
    """Output and cost per second of all directions."""
    values = [direction.value(counts) for direction, counts in zip(directions, setting, strict=True)]
    return sum(output for output, _ in values), sum(cost for _, cost in values)


def full_setting(directions: Sequence[Direction]) -> Setting:
    """Everything is looked through."""
    return tuple(direction.full for direction in directions)


def rank_slices(costs: Floats, scores: Floats) -> npt.NDArray[np.int64]:
    """The slices by what they promise per tuple, best first; those without tuples cost nothing and come first."""
    worth = np.where(costs > 0, scores / np.where(costs > 0, costs, 1.0), np.inf)
    return np.argsort(-worth, kind="stable").astype(np.int64)


def step_of(fanout: float, costs: Floats, scores: Floats) -> HarvestStep:
    """A step whose slices cost and promise so much each; without any score, as much as they cost."""
    promised = scores if scores.sum() > 0 else costs
    order = rank_slices(costs, promised)
    whole = max(float(promised.sum()), 1e-300)
    yields = np.minimum(np.cumsum(promised[order]) / whole, 1.0)
    yields[-1:] = 1.0
    return HarvestStep(fanout, (0.0, *np.cumsum(costs[order]).tolist()), (0.0, *yields.tolist()))
