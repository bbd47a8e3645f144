"""Keep rates of RandomDrop: against a grid, against Kang's regulated rates, against the budget."""

from itertools import product
from math import prod

import numpy as np
import pytest

from dovetail.control.drop_rates import Arriving, keep_rates, total_cost


def random_join(seed: int) -> list[Arriving]:
    random = np.random.default_rng(seed)
    rates = dict(zip("ABC", random.uniform(50, 500, 3), strict=True))
    return [
        Arriving(name, rate, random.uniform(0, 500), others, tuple(10 * rates[o] for o in others), (a, b))
        for name, rate in rates.items()
        for others in [tuple(other for other in rates if other != name)]
        for a, b in [random.uniform(0, 5, 2)]
    ]


@pytest.mark.parametrize("seed", range(3))
def test_no_setting_on_a_grid_gives_more(seed: int) -> None:
    directions = random_join(seed)
    grid = np.linspace(0.04, 1, 25)
    for z in (0.1, 0.5):
        budget = z * total_cost(directions, dict.fromkeys("ABC", 1.0))
        kept = keep_rates(directions, budget)
        settings = (dict(zip("ABC", rates, strict=True)) for rates in product(grid, repeat=3))
        best = max(prod(rates.values()) for rates in settings if total_cost(directions, rates) <= budget)
        assert prod(kept.values()) >= best * 0.9999
        assert total_cost(directions, kept) == pytest.approx(budget)


def test_two_streams_are_regulated_as_by_kang() -> None:
    """A service of 50 tuples per second, rates 5 and 100: 5 and 45; rates 80 and 90: 25 each."""
    for rates, expected in (((5.0, 100.0), (5.0, 45.0)), ((80.0, 90.0), (25.0, 25.0))):
        a = Arriving("A", rates[0], 1.0, ("B",), (0.0,), (1.0,))
        b = Arriving("B", rates[1], 1.0, ("A",), (0.0,), (1.0,))
        kept = keep_rates([a, b], budget=50.0)
        assert (kept["A"] * rates[0], kept["B"] * rates[1]) == pytest.approx(expected)


def test_two_streams_that_scan_share_equally_within_the_budget() -> None:
    a = Arriving("A", 80.0, 1.0, ("B",), (200.0,), (1.0,))
    b = Arriving("B", 20.0, 1.0, ("A",), (800.0,), (1.0,))
    budget = 0.3 * total_cost([a, b], {"A": 1.0, "B": 1.0})
    kept = keep_rates([a, b], budget)
    assert kept["B"] == pytest.approx(1.0)
    assert total_cost([a, b], kept) == pytest.approx(budget)


def test_nothing_is_dropped_when_all_fits() -> None:
    directions = random_join(1)
    assert keep_rates(directions, 1e12) == dict.fromkeys("ABC", 1.0)
