"""The order of probing while slices are left out: the best of all of three windows, if it is clearly better."""

from itertools import permutations

import pytest

from dovetail.control.fractional_slice import add_fractional_slice
from dovetail.control.harvest_model import Direction, HarvestStep
from dovetail.control.harvest_order import best_order
from dovetail.control.probe_positions import Order, Places
from dovetail.control.solve_greedy import solve_forwards

ANYWHERE = Places("A", ())


def window(matches: float, first_slice: float) -> HarvestStep:
    """A window with so many matches, of which the first tenth of the work finds this share."""
    return HarvestStep(fanout=matches, costs=(0.0, 10.0, 100.0), yields=(0.0, first_slice, 1.0))


def output(steps: dict[str, HarvestStep], order: Order, budget: float) -> float:
    direction = [Direction(1.0, tuple(steps[name] for name in order))]
    return add_fractional_slice(direction, solve_forwards(direction, budget), budget).value(direction)[0]


def test_of_three_windows_the_best_order_is_found_even_if_no_exchange_leads_there() -> None:
    steps = {"B": window(0.5, 0.1), "C": window(4.0, 0.1), "D": window(1.0, 0.8)}
    found = best_order(steps, ("B", "C", "D"), ANYWHERE, rate=1.0, budget=100.0)
    assert found == max(permutations("BCD"), key=lambda order: output(steps, order, 100.0)) == ("D", "B", "C")


@pytest.mark.parametrize(("matches", "order"), [(7.5, ("B", "C")), (4.0, ("C", "B"))])
def test_an_order_in_use_stays_unless_another_is_better_by_a_tenth(matches: float, order: Order) -> None:
    steps = {"B": window(8.0, 1.0), "C": window(matches, 1.0)}
    better = output(steps, ("C", "B"), 60.0) / output(steps, ("B", "C"), 60.0)
    assert better > 1
    assert (better > 1.1) == (order == ("C", "B"))
    assert best_order(steps, ("B", "C"), ANYWHERE, rate=1.0, budget=60.0) == order
