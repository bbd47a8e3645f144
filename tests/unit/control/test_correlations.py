"""What is known about where results lie: few results are kept in mind, many make room for new ones."""

import numpy as np
import pytest

from dovetail.control.correlations import Correlations
from dovetail.engine.policies.shed.learned import Learned
from dovetail.model.shedding import Pick

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
    counted.slices(("B", "A"), np.full(len(EDGES) - 1, 10.0), 100.0, 100.0)
    known.learn(counted, PAIRS, ORDERS)
    for _ in range(20):
        known.learn(Learned(), PAIRS, ORDERS)
    window = known.window("B", "A", EDGES, scans=True)
    assert window.ranked[0] == 13, "3 to 4 s, of slices from -10 s on"
    assert window.step.yields[1] > 0.5


def test_what_ordinary_arrivals_found_in_their_slices_tells_how_many_match() -> None:
    known, counted = Correlations("AB"), learned(3.5, times=50)
    counted.slices(("B", "A"), np.full(len(EDGES) - 1, 10.0), 100.0, 100.0)
    counted.found(("B", "A"), np.where(EDGES[:-1] == 3_000_000, 50.0, 0.0))
    known.learn(counted, PAIRS, ORDERS)
    pick = Pick(tuple(EDGES.tolist()), (13, *range(13), *range(14, 20)), 1)
    later = Learned()
    later.harvest(("B", "A"), came=1000.0, matched=4000.0)
    known.learn(later, PAIRS, ORDERS, {"B": {"A": pick}})
    step = known.window("B", "A", EDGES, scans=True).step
    assert step.fanout * step.yields[1] == pytest.approx(4.0, rel=0.02), "as found where it was looked for"


def test_results_found_while_a_window_filled_say_nothing_of_its_later_slices() -> None:
    """All results were young, for there was nothing else: as many are expected of every tuple."""
    known, young = Correlations("AB"), EDGES[:-1] < 2_000_000
    tuples = np.where(young & (EDGES[:-1] >= 0), 10.0, 0.0)
    counted = learned(0.5, 1.5, times=20)
    counted.slices(("B", "A"), tuples, 100.0, 100.0)
    counted.found(("B", "A"), 2 * tuples)
    known.learn(counted, PAIRS, ORDERS)
    full = Learned()
    full.arrivals["B"] = 100.0
    full.slices(("B", "A"), np.where(EDGES[:-1] >= 0, 10.0, 0.0), 100.0)
    known.learn(full, PAIRS, ORDERS)
    scores = known.window("B", "A", EDGES, scans=True).scores[10:]
    assert scores.max() < 1.5 * scores.min()


def half(age_s: float, times: int) -> Learned:
    """An interval in which B's arrivals found so many results of that age among 20 slices of ten tuples."""
    counted, place = learned(age_s, times=times), int(age_s) + 10
    counted.arrivals["B"] = 100.0
    counted.slices(("B", "A"), np.full(len(EDGES) - 1, 10.0), 100.0, 100.0)
    counted.found(("B", "A"), np.where(np.arange(len(EDGES) - 1) == place, float(times), 0.0))
    counted.step(("B", "A"), 100.0, float(times))
    return counted


def test_what_two_have_learned_is_what_one_would_have() -> None:
    here, elsewhere, both = (Correlations("AB") for _ in range(3))
    here.learn(half(3.5, 2), PAIRS, ORDERS)
    elsewhere.learn(half(3.5, 30), PAIRS, ORDERS)
    twice = half(3.5, 32)
    twice.arrivals["B"] = 200.0
    twice.slices(("B", "A"), np.full(len(EDGES) - 1, 10.0), 100.0, 100.0)
    twice.step(("B", "A"), 100.0, 0.0)
    both.learn(twice, PAIRS, ORDERS)
    pooled = here.together_with([elsewhere.to_json()])
    found, expected = (each.window("B", "A", EDGES, scans=True) for each in (pooled, both))
    assert pooled.histograms["B"].total == 32
    np.testing.assert_allclose(found.scores, expected.scores)
    assert found.ranked[0] == 13
    assert found.step.fanout == pytest.approx(expected.step.fanout, rel=0.2)
    assert here.histograms["B"].total == 2, "what is its own is not changed, or it would come back doubled"


def test_one_that_has_found_nothing_goes_by_what_others_found() -> None:
    here, elsewhere = Correlations("AB"), Correlations("AB")
    here.learn(half(3.5, 0), PAIRS, ORDERS)
    elsewhere.learn(half(3.5, 30), PAIRS, ORDERS)
    alone, pooled = (
        each.window("B", "A", EDGES, scans=True) for each in (here, here.together_with([elsewhere.to_json()]))
    )
    assert alone.scores[13] == pytest.approx(0.05), "a twentieth, as every slice"
    assert pooled.ranked[0] == 13
    assert pooled.scores[13] > 0.5
