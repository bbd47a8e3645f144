"""The harvest fractions for a throttle: as much output as possible with at most ``z`` of the full cost.

>>> from dovetail.control.harvest_model import HarvestStep
>>> near = HarvestStep(fanout=1.0, costs=(0.0, 10.0, 20.0), yields=(0.0, 0.9, 1.0))
>>> flat = HarvestStep(fanout=1.0, costs=(0.0, 10.0, 20.0), yields=(0.0, 0.5, 1.0))
>>> solve_harvest([Direction(1.0, (near,)), Direction(1.0, (flat,))], z=0.75)
((1,), (2,))
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from dovetail.control.harvest_model import Direction, Floats, Setting, full_setting, total
from dovetail.control.solve_greedy import solve_backwards, solve_double_sided, solve_forwards
from dovetail.model.harvest import Metric, Solver

Places = npt.NDArray[np.intp]


def solve_harvest(
    directions: Sequence[Direction], z: float, solver: Solver = "double-sided", metric: Metric = "delta"
) -> Setting:
    """How many of the best slices of each window each direction looks through."""
    everything = full_setting(directions)
    budget = z * total(directions, everything)[1]
    if solver == "exhaustive":
        return solve_exhaustively(directions, budget)
    if z >= 1:
        return everything
    if solver == "greedy":
        return solve_forwards(directions, budget, metric)
    if solver == "reverse":
        return solve_backwards(directions, budget, metric)
    return solve_double_sided(directions, z, budget, metric)


def solve_exhaustively(directions: Sequence[Direction], budget: float) -> Setting:
    """The optimum, by trying everything; a direction may be off.

    Directions only share the budget, so settings of one that another beats in both cost and output are left out
    before the directions are combined.
    """
    allowed = budget * (1 + 1e-9)
    choices = [_worthwhile(direction, allowed) for direction in directions]
    outputs, costs = np.zeros(1), np.zeros(1)
    traces: list[tuple[Places, int]] = []
    for _, own_outputs, own_costs in choices:
        every_cost = (costs[:, None] + own_costs[None, :]).ravel()
        every_output = (outputs[:, None] + own_outputs[None, :]).ravel()
        kept = _undominated(every_output, every_cost, allowed)
        traces.append((kept, len(own_costs)))
        outputs, costs = every_output[kept], every_cost[kept]
    return _traced(choices, traces, int(np.argmax(outputs)))


def _worthwhile(direction: Direction, budget: float) -> tuple[list[tuple[int, ...]], Floats, Floats]:
    settings = [direction.off, *product(*(range(1, step.slices + 1) for step in direction.steps))]
    values = np.array([direction.value(counts) for counts in settings])
    kept = _undominated(values[:, 0], values[:, 1], budget)
    return [settings[at] for at in kept], values[kept, 0], values[kept, 1]


def _undominated(outputs: Floats, costs: Floats, budget: float) -> Places:
    """Places of what fits, without what costs no less than another and gives no more."""
    order = np.lexsort((-outputs, costs))
    order = order[costs[order] <= budget]
    best_before = np.concatenate([[-1.0], np.maximum.accumulate(outputs[order])[:-1]])
    kept: Places = order[outputs[order] > best_before]
    return kept


def _traced(
    choices: Sequence[tuple[list[tuple[int, ...]], Floats, Floats]], traces: Sequence[tuple[Places, int]], best: int
) -> Setting:
    """The settings that a combination was made of, found from the last direction back."""
    setting: list[tuple[int, ...]] = []
    for (settings, _, _), (kept, width) in zip(reversed(choices), reversed(traces), strict=True):
        best, own = divmod(int(kept[best]), width)
        setting.append(settings[own])
    return tuple(reversed(setting))
