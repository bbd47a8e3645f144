"""Solvers of harvest fractions: against plain enumeration, the budget and the optimum."""

from itertools import product

import numpy as np
import pytest

from dovetail.control.harvest_model import Direction, HarvestStep, Setting, full_setting, rank_slices, step_of, total
from dovetail.control.solve_greedy import goes_forwards
from dovetail.control.solve_harvest import solve_exhaustively, solve_harvest
from dovetail.model.harvest import METRICS, SOLVERS

THROTTLES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)


def random_directions(seed: int, streams: int, slices: int, correlated: bool) -> list[Direction]:
    """Rates from 100 to 500 per second, windows of 10 s, random selectivities; results around some age, or anywhere."""
    random = np.random.default_rng(seed)
    rates = random.uniform(100, 500, streams)
    ages = (np.arange(slices) + 0.5) * 10 / slices
    directions = []
    for i in range(streams):
        steps = []
        for other in (j for j in range(streams) if j != i):
            tuples = rates[other] * 10
            lag, width = random.uniform(-10, 10), random.uniform(0.5, 10)
            scores = np.exp(-(((ages - lag) / width) ** 2) / 2) + 1e-6 if correlated else np.ones(slices)
            steps.append(step_of(random.uniform(0, 0.01) * tuples, np.full(slices, tuples / slices), scores))
        directions.append(Direction(rates[i], tuple(sorted(steps, key=lambda step: step.fanout))))
    return directions


def enumerated(directions: list[Direction], budget: float) -> float:
    choices = [
        [direction.off, *product(*(range(1, step.slices + 1) for step in direction.steps))] for direction in directions
    ]
    values = (total(directions, setting) for setting in product(*choices))
    return max(output for output, cost in values if cost <= budget * (1 + 1e-9))


@pytest.mark.parametrize("seed", range(4))
def test_the_exhaustive_solver_finds_what_plain_enumeration_finds(seed: int) -> None:
    directions = random_directions(seed, 3, 3, correlated=True)
    for z in (0.1, 0.4, 0.8):
        budget = z * total(directions, full_setting(directions))[1]
        found = solve_exhaustively(directions, budget)
        assert total(directions, found)[0] == pytest.approx(enumerated(directions, budget))
        assert total(directions, found)[1] <= budget * (1 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
def test_no_solver_spends_more_than_allowed_and_none_looks_into_half_a_direction(solver: str, metric: str) -> None:
    for seed, z in product(range(3), (0.001, 0.1, 0.5, 0.99)):
        directions = random_directions(seed, 4, 5, correlated=True)
        setting = solve_harvest(directions, z, solver, metric)  # type: ignore[arg-type]
        full = full_setting(directions)
        assert total(directions, setting)[1] <= z * total(directions, full)[1] * (1 + 1e-6)
        assert all(all(counts) or not any(counts) for counts in setting)
        assert all(count <= most for pair in zip(setting, full, strict=True) for count, most in zip(*pair, strict=True))


def test_with_the_whole_budget_everything_is_looked_through() -> None:
    directions = random_directions(1, 3, 5, correlated=True)
    for solver in SOLVERS:
        best = total(directions, full_setting(directions))[0]
        found = solve_harvest(directions, 1.0, solver)  # type: ignore[arg-type]
        assert total(directions, found)[0] == pytest.approx(best)


@pytest.mark.parametrize("correlated", [True, False])
def test_double_sided_with_the_delta_metric_comes_within_two_hundredths_of_the_optimum(correlated: bool) -> None:
    for z in THROTTLES:
        shares = []
        for seed in range(25):
            directions = random_directions(1000 + seed, 3, 10, correlated)
            budget = z * total(directions, full_setting(directions))[1]
            best = total(directions, solve_exhaustively(directions, budget))[0]
            shares.append(total(directions, solve_harvest(directions, z))[0] / best)
        assert np.mean(shares) >= 0.98, (z, np.mean(shares))


def test_double_sided_begins_where_fewer_steps_are_to_be_made() -> None:
    assert [goes_forwards(3, z) for z in (0.1, 0.5, 0.51)] == [True, True, False]
    assert [goes_forwards(5, z) for z in (0.25, 0.26)] == [True, False]


def test_a_direction_that_never_yields_is_left_out() -> None:
    """Lagged streams: only arrivals of the last find their partners stored, so all work goes there (figure 4)."""
    dead = HarvestStep(0.0, (0.0, 50.0, 100.0), (0.0, 0.5, 1.0))
    alive = HarvestStep(2.0, (0.0, 50.0, 100.0), (0.0, 0.9, 1.0))
    directions = [Direction(100.0, (dead, dead)), Direction(100.0, (dead, alive)), Direction(100.0, (alive, alive))]
    expected: Setting = ((0, 0), (0, 0), (2, 2))
    budget = directions[2].value((2, 2))[1] / total(directions, full_setting(directions))[1]
    for solver in SOLVERS:
        assert solve_harvest(directions, budget, solver) == expected  # type: ignore[arg-type]


def test_slices_are_ranked_by_what_they_promise_per_tuple() -> None:
    costs, scores = np.array([10.0, 10.0, 0.0, 40.0]), np.array([0.1, 0.5, 0.0, 0.4])
    assert rank_slices(costs, scores).tolist() == [2, 1, 0, 3]
    assert step_of(1.0, costs, scores).yields == pytest.approx((0.0, 0.0, 0.5, 0.6, 1.0))
