"""The planner's benchmarks: what their grid covers, and that one setting, one change and one comparison work."""

import pytest

from benchmarks.adapt import CHANGES, follow
from benchmarks.planner import ALGORITHMS, grid, try_setting
from benchmarks.statistics import overhead
from dovetail.plan.cost import Weights
from dovetail.runtime.workload import Setting


def test_the_grid_is_as_wide_as_it_says_and_bounded() -> None:
    settings = grid()
    assert len(settings) >= 60
    assert {len(setting.rates) for setting in settings} == {2, 3, 4, 5}
    ratios = {max(setting.rates) / min(setting.rates) for setting in settings}
    assert (min(ratios), max(ratios)) == (1, 100)
    assert {min(setting.keys for setting in settings), max(setting.keys for setting in settings)} == {2, 100_000}
    held = [rate * setting.window_s for setting in settings for rate in setting.rates]
    assert max(held) == pytest.approx(1_000_000), "more would not fit into a few gigabytes"
    assert min(setting.window for setting in settings) == 10
    assert len({setting.block for setting in settings}) >= 3


def test_one_setting() -> None:
    tried = try_setting(Setting((1000.0, 100.0), 50, 200, 100), Weights(), repeats=1)
    assert tried["equal"]
    assert set(tried["costs"]) == {f"{a}/{b}" for a in ALGORITHMS for b in ALGORITHMS} == set(tried["predicted"])
    assert tried["chosen"] in tried["costs"]
    wanted, found = tried["output"]
    assert wanted == pytest.approx(found, rel=0.2)


def test_one_change() -> None:
    found = follow(CHANGES["selectivities drift"], Weights(), repeats=1)
    assert found["results_equal"]
    assert found["before"] != found["after"]
    assert 0 < found["followed_s"] <= 6


def test_observing_changes_no_result() -> None:
    share, results_equal = overhead(Setting((1000.0, 1000.0), 50, 200, 100), tuples=4000, repeats=1)
    assert results_equal
    assert share > 0
