"""The rest of a budget: never more than allowed, never less than the setting it began with, in few steps."""

import numpy as np
import pytest

from dovetail.control.fractional_slice import Filled, add_fractional_slice
from dovetail.control.harvest_model import Counts, Direction, HarvestStep, full_setting, step_of, total
from dovetail.control.solve_harvest import solve_harvest


def random_directions(seed: int, streams: int, slices: int) -> list[Direction]:
    random = np.random.default_rng(seed)

    def step() -> HarvestStep:
        scores = random.exponential(1, slices) ** 3
        return step_of(float(random.lognormal(0, 2)), random.uniform(1, 50, slices), scores)

    return [
        Direction(float(random.uniform(10, 500)), tuple(step() for _ in range(streams - 1))) for _ in range(streams)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_it_spends_no_more_than_allowed_and_never_loses(seed: int) -> None:
    directions = random_directions(seed, 3 + seed % 3, 6)
    for z in (0.001, 0.03, 0.2, 0.7):
        budget = z * total(directions, full_setting(directions))[1]
        setting = solve_harvest(directions, z)
        filled = add_fractional_slice(directions, setting, budget)
        output, cost = filled.value(directions)
        assert cost <= budget * (1 + 1e-6)
        assert output >= total(directions, setting)[0] * (1 - 1e-9)
        assert all(all(counts[1:]) or not any(counts) for counts in filled.setting)


def test_what_is_too_much_even_for_one_slice_of_each_is_begun_in_part() -> None:
    step = HarvestStep(5.0, (0.0, 100.0, 200.0), (0.0, 0.9, 1.0))
    direction = Direction(10.0, (step, step))
    least = direction.value(direction.least)
    filled = add_fractional_slice([direction], (direction.off,), least[1] / 4)
    assert filled.setting == ((0, 1),)
    assert filled.value([direction]) == pytest.approx((least[0] / 4, least[1] / 4))


def test_slices_that_only_filled_a_gap_make_room() -> None:
    sharp = HarvestStep(6.0, (0.0, 200.0, 400.0, 600.0), (0.0, 0.94, 0.945, 1.0))
    vague = HarvestStep(10.0, (0.0, 200.0, 400.0, 600.0), (0.0, 0.3, 0.6, 1.0))
    direction = Direction(100.0, (vague, sharp, sharp))
    budget = 1.5 * direction.value((1, 1, 1))[1]
    filled = add_fractional_slice([direction], ((1, 3, 1),), budget)
    assert filled.setting == ((1, 1, 1),)
    assert filled.part is not None
    assert filled.part.step == 0
    assert filled.value([direction])[0] > 1.3 * Filled(((1, 3, 1),), None).value([direction])[0]


def test_five_streams_of_twenty_slices_are_filled_by_weighing_few_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few microseconds each; there are more than 20 ** 16 settings."""
    directions = random_directions(1, 5, 20)
    budget = 0.25 * total(directions, full_setting(directions))[1]
    setting = solve_harvest(directions, 0.25)
    weighed, weigh = [], Direction.value

    def counted(direction: Direction, counts: Counts) -> tuple[float, float]:
        weighed.append(counts)
        return weigh(direction, counts)

    monkeypatch.setattr(Direction, "value", counted)
    add_fractional_slice(directions, setting, budget)
    assert 100 < len(weighed) < 2000
