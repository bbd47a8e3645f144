"""The probe orders while slices are left out: the one in which the same work gives the most results.

Fewest matches first is best when windows are looked through whole. With slices it also counts how well they tell
matches apart: of two windows with as many matches, the one whose matches all lie in one slice belongs last, where most
partial results arrive. Example: B's matches lie in one slice of ten, C's anywhere.

    >>> sharp = HarvestStep(fanout=8.0, costs=(0.0, 10.0, 100.0), yields=(0.0, 1.0, 1.0))
    >>> blunt = HarvestStep(fanout=8.0, costs=(0.0, 10.0, 100.0), yields=(0.0, 0.1, 1.0))
    >>> best_order({"B": sharp, "C": blunt}, ("B", "C"), Places("A", ()), rate=1.0, budget=200.0)
    ('C', 'B')

How many matches a window has at another place of the order is a guess (``Places``); it is learned anew afterwards. An
order that is in use gives way only to one that is better by a tenth.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, permutations

from dovetail.control.fractional_slice import add_fractional_slice
from dovetail.control.harvest_model import Direction, HarvestStep
from dovetail.control.probe_positions import Order, Places
from dovetail.control.solve_greedy import solve_forwards

_BETTER = 1.1  # another order makes learned ages useless, so it must give a tenth more
_ALL = 3  # streams of which all six orders are tried
_ROUNDS = 4  # of swapping neighbours; each swap costs one solution of the model


def best_order(steps: Mapping[str, HarvestStep], order: Order, places: Places, rate: float, budget: float) -> Order:
    """The order of the windows that gives most for this cost per second; ``steps`` are as found in the order so far."""

    def output(each: Order) -> float:
        moved = (replace(steps[name], fanout=steps[name].fanout * places.factor(name, order, each)) for name in each)
        direction = [Direction(rate, tuple(moved))]
        return add_fractional_slice(direction, solve_forwards(direction, budget), budget).value(direction)[0]

    best, most = order, _BETTER * output(order)
    for _ in range(1 if len(order) <= _ALL else _ROUNDS):
        tried = {each: output(each) for each in _others(best) if places.tied(each)}
        found = max(tried, key=lambda each: tried[each], default=best)
        if tried.get(found, 0.0) <= most:
            break
        best, most = found, tried[found]
    return best


def _others(order: Order) -> Iterator[Order]:
    """All orders of a few streams; of many, those with two exchanged."""
    if len(order) <= _ALL:
        yield from (each for each in permutations(order) if each != order)
        return
    for one, other in combinations(range(len(order)), 2):
        swapped = list(order)
        swapped[one], swapped[other] = order[other], order[one]
        yield tuple(swapped)
