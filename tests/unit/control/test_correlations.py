"""What is known about where results lie: few results are kept in mind, many make room for new ones."""

import numpy as np

from dovetail.control.correlations import Correlations
from dovetail.engine.shed.learned import Learned

EDGES = np.arange(-10, 11) * 1_000_000
PAIRS = {("A", "B"): EDGES, ("B", "A"): EDGES}
ORDERS = {"A": ("B",), "B": ("A",)}


def learned(*ages_s: float, times: int = 1) -> Learned:
    found = Learned()
    found.ages["B"].append(np.repeat((np.array(ages_s) * 1e6).astype(np.int64), times))
    found.sampled("B", float(times), float(times))  # of as many arrivals, one each
    return found


def share(known: Correlations, age_s: int) -> float:
    """Of the results, those in which B's member is that old."""
    edges = known.histograms["B"].low_us + known.histograms["B"].bin_us * np.arange(len(known.histograms["B"].counts))
    inside = (edges >= age_s * 1_000_000) & (edges < (age_s + 1) * 1_000_000)
    return float(known.histograms["B"].counts[inside].sum() / known.histograms["B"].total)


def test_a_few_results_are_not_forgotten_while_none_are_found() -> None:
    known = Correlations("AB")
    known.learn(learned(3.5, times=5), PAIRS, ORDERS)
    for _ in range(50):
        known.learn(Learned(), PAIRS, ORDERS)
    assert known.histograms["B"].total == 5
    assert share(known, 3) == 1


def test_many_results_make_room_for_new_ones() -> None:
    known = Correlations("AB")
    known.learn(learned(3.5, times=10_000), PAIRS, ORDERS)
    for _ in range(10):
        known.learn(learned(-6.5, times=10_000), PAIRS, ORDERS)
    assert share(known, -7) > 0.99


def test_slices_with_results_are_ranked_first_also_long_after() -> None:
    known = Correlations("AB")
    counted = learned(3.5, times=20)
    counted.arrivals["B"] = 100.0
    counted.slices(("B", "A"), np.full(len(EDGES) - 1, 1000.0))
    known.learn(counted, PAIRS, ORDERS)
    for _ in range(20):
        known.learn(Learned(), PAIRS, ORDERS)
    window = known.window("B", "A", EDGES, scans=True)
    assert window.ranked[0] == 13, "3 to 4 s, of slices from -10 s on"
    assert window.step.yields[1] > 0.5
