"""What to leave out: decisions for windows that are not full yet."""

import numpy as np
import pytest

import dovetail as dv
from dovetail.control.correlations import Window
from dovetail.control.harvest_model import HarvestStep
from dovetail.control.shed_load import ShedLoad, Situation

EDGES = np.array([0, 1_000_000, 2_000_001])
FULL = Window(EDGES, (), (1, 0), HarvestStep(3.0, (0.0, 100.0, 200.0), (0.0, 0.8, 1.0)), 200.0, np.array([0.2, 0.8]))
EMPTY = Window(EDGES, (0, 1), (), HarvestStep(0.5, (0.0, 0.0), (0.0, 1.0)), 0.0, np.zeros(2))
BUDGET = dv.budget(cpu=1.0)


def situation(first: Window, second: Window, in_force: float = 0.0, capacity: float = 1e4) -> Situation:
    names = "ABC"
    orders = {name: tuple(other for other in names if other != name) for name in names}
    windows = {name: [first, second] for name in names}
    tuples = dict.fromkeys(names, 200.0)
    return Situation(dict.fromkeys(names, 10.0), windows, orders, tuples, capacity, 1.0, in_force)


@pytest.mark.parametrize("windows", [(EMPTY, FULL), (FULL, EMPTY), (EMPTY, EMPTY), (FULL, FULL)])
@pytest.mark.parametrize("z", [0.001, 0.3, 0.9])
def test_windows_without_tuples_are_looked_into_as_well(windows: tuple[Window, Window], z: float) -> None:
    load = ShedLoad("ABC", BUDGET)
    load.throttle.z = z
    decision = load.decide(situation(*windows))
    assert decision.picks is not None
    for picks in decision.picks.values():
        for pick in picks.values():
            assert sorted(pick.ranking) == [0, 1]
            assert 0 <= pick.looks <= 2
            assert len(pick.ranges) <= 2


def test_a_throttle_keeps_the_work_it_allows_when_everything_turns_out_to_cost_more() -> None:
    load = ShedLoad("ABC", BUDGET)
    load.throttle.z = 0.2
    first = situation(FULL, FULL)
    load.decide(first)
    spent = 0.2 * first.whole[1]
    dearer = Window(
        EDGES, (), (1, 0), HarvestStep(3.0, (0.0, 100.0, 1000.0), (0.0, 0.8, 1.0)), 1000.0, np.array([0.2, 0.8])
    )
    later = situation(dearer, dearer, spent, capacity=spent)
    load.decide(later)
    assert load.throttle.z * later.whole[1] == pytest.approx(spent, rel=0.05)
    idle = situation(dearer, dearer, spent / 4, capacity=spent)
    before = load.throttle.z
    load.decide(idle)
    assert load.throttle.z == before, "there is time: no reason to do as little as before"
