"""What it costs to look through some slices of the windows, by what is known of these now.

A throttle z is a share of the full work as it was thought to be. If that turns out to be something else, the same
slices are another share of it, and the throttle has to be told, or it would allow much less or more than it did.
Example: half of a window is looked through; it was thought to be half of the work, but holds one tuple in ten.

    >>> from dovetail.control.harvest_model import HarvestStep
    >>> def window(few: float, many: float) -> Window:
    ...     step = HarvestStep(1.0, (0.0, few, few + many), (0.0, 0.5, 1.0))
    ...     return Window(np.arange(3), (), (0, 1), step, few + many, np.ones(2))
    >>> chosen = {"A": {"B": Pick((0, 1, 2), (0, 1), 1)}}
    >>> for tuples in ((5.0, 5.0), (1.0, 9.0)):
    ...     cost_of(chosen, {"A": {"B": window(*tuples)}}, {"A": ("B",)}, {"A": 1.0})
    5.0
    1.0
"""

from collections.abc import Mapping, Sequence

import numpy as np

from dovetail.control.correlations import Window
from dovetail.control.harvest_model import Direction, HarvestStep
from dovetail.model.shedding import Pick, Picks


def cost_of(
    picks: Picks | None,
    windows: Mapping[str, Mapping[str, Window]],
    orders: Mapping[str, Sequence[str]],
    rates: Mapping[str, float],
) -> float:
    """Comparisons per second of some slices (None: all), looked through in these orders."""
    cost = 0.0
    for name, order in orders.items():
        steps = (_chosen(windows[name][other], None if picks is None else picks[name][other]) for other in order)
        cost += Direction(rates[name], tuple(steps)).value((1,) * len(order))[1]
    return cost


def _chosen(window: Window, pick: Pick | None) -> HarvestStep:
    """A window as if the chosen slices were all there is to choose."""
    step = window.step
    if pick is None or len(pick.edges) != len(window.edges):
        return HarvestStep(step.fanout, (0.0, step.costs[-1]), (0.0, 1.0))
    costs, shares = np.zeros(len(window.edges) - 1), np.zeros(len(window.edges) - 1)
    costs[list(window.ranked)], shares[list(window.ranked)] = np.diff(step.costs), np.diff(step.yields)
    return HarvestStep(step.fanout, (0.0, float(costs @ pick.shares)), (0.0, float(shares @ pick.shares)))
