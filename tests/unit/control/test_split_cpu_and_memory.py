"""CPU and memory both short: against a grid, against Kang's closed form, and against each limit alone."""

from itertools import product

import numpy as np
import pytest

from dovetail.control.drop_rates import Arriving, keep_rates, total_cost
from dovetail.control.split_cpu_and_memory import Both, split_cpu_and_memory
from dovetail.plan.kang_shares import share_both


def two(a_rate: float, b_rate: float, window_s: float, overhead: float) -> list[Arriving]:
    a = Arriving("A", a_rate, overhead, ("B",), (b_rate * window_s,), (0.01 * b_rate * window_s,))
    b = Arriving("B", b_rate, overhead, ("A",), (a_rate * window_s,), (0.01 * a_rate * window_s,))
    return [a, b]


def three(seed: int) -> list[Arriving]:
    random = np.random.default_rng(seed)
    rates = dict(zip("ABC", random.uniform(50, 500, 3), strict=True))
    return [
        Arriving(name, rate, random.uniform(0, 200), others, tuple(10 * rates[o] for o in others), tuple(fanouts))
        for name, rate in rates.items()
        for others in [tuple(other for other in rates if other != name)]
        for fanouts in [random.uniform(0.1, 5, 2)]
    ]


def value(directions: list[Arriving], kept: dict[str, float], stored: dict[str, float]) -> tuple[float, float]:
    """Results and cost per second, written out once more."""
    output = cost = 0.0
    for each in directions:
        reached = each.rate * kept[each.stream]
        cost += reached * each.overhead
        for name, tuples, fanout in zip(each.order, each.tuples, each.fanouts, strict=True):
            cost += reached * stored[name]
            reached *= fanout * stored[name] / tuples
        output += reached
    return output, cost


def on_a_grid(directions: list[Arriving], budget: float, memory: float, steps: int) -> float:
    """The best of all settings on a grid that keep the limits."""
    names = [each.stream for each in directions]
    full = {n: t for each in directions for n, t in zip(each.order, each.tuples, strict=True)}
    best, grid = 0.0, np.linspace(0, 1, steps)
    for shares in product(grid, repeat=len(names)):
        kept = dict(zip(names, shares, strict=True))
        for filled in product(grid, repeat=len(names)):
            stored = {n: min(memory * f, kept[n] * full[n]) for n, f in zip(names, filled, strict=True)}
            if sum(stored.values()) <= memory:
                output, cost = value(directions, kept, stored)
                best = max(best, output if cost <= budget else 0.0)
    return best


def check(directions: list[Arriving], found: Both, budget: float, memory: float) -> None:
    full = {n: t for each in directions for n, t in zip(each.order, each.tuples, strict=True)}
    output, cost = value(directions, found.kept, found.stored)
    assert output == pytest.approx(found.output)
    assert cost <= budget * 1.001
    assert sum(found.stored.values()) <= memory * 1.001
    assert all(found.stored[name] <= found.kept[name] * full[name] * 1.001 for name in full)
    assert all(0 <= share <= 1 + 1e-9 for share in found.kept.values())


@pytest.mark.parametrize(("a_rate", "b_rate"), [(100, 100), (20, 200), (200, 20)])
@pytest.mark.parametrize("overhead", [1.0, 500.0])
@pytest.mark.parametrize("memory", [30.0, 300.0, 1500.0])
def test_two_streams_give_as_much_as_the_best_on_a_grid(
    a_rate: float, b_rate: float, overhead: float, memory: float
) -> None:
    directions = two(a_rate, b_rate, 10.0, overhead)
    for z in (0.03, 0.3):
        budget = z * total_cost(directions, {"A": 1.0, "B": 1.0})
        found = split_cpu_and_memory(directions, budget, memory)
        check(directions, found, budget, memory)
        assert found.output >= 0.99 * on_a_grid(directions, budget, memory, 11)


@pytest.mark.parametrize("seed", range(2))
def test_three_streams_give_as_much_as_the_best_on_a_grid(seed: int) -> None:
    directions = three(seed)
    for z, memory in ((0.1, 500.0), (0.4, 3000.0)):
        budget = z * total_cost(directions, dict.fromkeys("ABC", 1.0))
        found = split_cpu_and_memory(directions, budget, memory)
        check(directions, found, budget, memory)
        assert found.output >= 0.98 * on_a_grid(directions, budget, memory, 5)


def test_where_only_arrivals_cost_anything_it_is_kangs_closed_form() -> None:
    """U tuples per second can be served: the kept stream gets M/T of them, or half where memory is not short."""
    overhead, window_s, service = 1e6, 10.0, 50.0
    directions = two(100, 100, window_s, overhead)
    for memory in (20.0, 100.0, 200.0):
        found = split_cpu_and_memory(directions, service * overhead, memory)
        share = share_both(service, memory, window_s)
        rates = sorted(kept * 100 for kept in found.kept.values())
        assert rates == pytest.approx([share.kept_rate, share.probing_rate], rel=0.01)
        assert max(found.stored.values()) == pytest.approx(share.kept_tuples, rel=0.01)


def test_with_memory_enough_it_is_the_static_optimum_for_the_cpu() -> None:
    directions = three(1)
    budget = 0.2 * total_cost(directions, dict.fromkeys("ABC", 1.0))
    assert split_cpu_and_memory(directions, budget, 1e9).kept == keep_rates(directions, budget)


def test_with_cpu_enough_memory_goes_to_the_slower_stream() -> None:
    found = split_cpu_and_memory(two(10, 50, 1000.0, 1.0), 1e12, 1000.0)
    assert found.stored == pytest.approx({"A": 1000.0, "B": 0.0}, abs=1e-6)
    assert found.kept["B"] == pytest.approx(1.0)


@pytest.mark.parametrize("directions", [two(20, 200, 10.0, 1.0), three(1)], ids=["two", "three"])
def test_tuples_eight_times_as_large_need_eight_times_the_memory(directions: list[Arriving]) -> None:
    names = [each.stream for each in directions]
    budget = 0.3 * total_cost(directions, dict.fromkeys(names, 1.0))
    small = split_cpu_and_memory(directions, budget, 100.0)
    large = split_cpu_and_memory(directions, budget, 800.0, dict.fromkeys(names, 8.0))
    assert sum(small.stored.values()) == pytest.approx(100.0, rel=0.01)
    assert large.stored == pytest.approx(small.stored)
    assert large.output == pytest.approx(small.output)
