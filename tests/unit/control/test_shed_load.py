"""What to leave out: decisions for windows that are not full yet."""

import numpy as np
import pytest

import dovetail as dv
from dovetail.control.correlations import Window
from dovetail.control.harvest_model import HarvestStep, full_setting, total
from dovetail.control.shed_load import ShedLoad, Situation
from dovetail.control.spare_capacity import Supply

EDGES = np.array([0, 1_000_000, 2_000_001])
FULL = Window(EDGES, (), (1, 0), HarvestStep(3.0, (0.0, 100.0, 200.0), (0.0, 0.8, 1.0)), 200.0, np.array([0.2, 0.8]))
EMPTY = Window(EDGES, (0, 1), (), HarvestStep(0.5, (0.0, 0.0), (0.0, 1.0)), 0.0, np.zeros(2))
BUDGET = dv.budget(cpu=1.0)


ENOUGH = Supply(1.0, 0.0, 1e-5)


def situation(first: Window, second: Window, supply: Supply = ENOUGH) -> Situation:
    names = "ABC"
    orders = {name: tuple(other for other in names if other != name) for name in names}
    windows = {name: [first, second] for name in names}
    tuples, everyone = dict.fromkeys(names, 200.0), dict.fromkeys(names, 1.0)
    return Situation(dict.fromkeys(names, 10.0), windows, orders, tuples, 1e4, 1.0, supply, everyone)


@pytest.mark.parametrize("windows", [(EMPTY, FULL), (FULL, EMPTY), (EMPTY, EMPTY), (FULL, FULL)])
@pytest.mark.parametrize("z", [0.001, 0.3, 0.9])
def test_windows_without_tuples_are_looked_into_as_well(windows: tuple[Window, Window], z: float) -> None:
    load = ShedLoad("ABC", dv.budget(cpu=1.0, policy=dv.harvest(throttle="paper")))
    load.throttle.z = z
    decision = load.decide(situation(*windows))
    assert decision.picks is not None
    for picks in decision.picks.values():
        for pick in picks.values():
            assert sorted(pick.ranking) == [0, 1]
            assert 0 <= pick.looks <= 2
            assert len(pick.ranges) <= 2


def test_the_throttle_is_what_there_is_time_for_over_everything() -> None:
    load = ShedLoad("ABC", BUDGET)
    for unit_s in (1e-5, 1e-4, 1e-6):
        now = situation(FULL, FULL, Supply(1.0, 0.0, unit_s))
        load.decide(now)
        whole = total(now.choice.directions, full_setting(now.choice.directions))[1]
        assert load.throttle.z == pytest.approx(min(1.0, 1 / unit_s / whole))


def test_where_letting_tuples_in_takes_the_time_tuples_are_left_out_and_not_slices() -> None:
    load = ShedLoad("ABC", BUDGET)
    decision = load.decide(situation(FULL, FULL, Supply(1.0, 0.05, 1e-5)))  # 30 tuples/s, 20 of which could be let in
    assert 0.1 < max(decision.kept.values()) < 0.7
