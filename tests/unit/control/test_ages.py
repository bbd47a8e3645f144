"""Scores of slices from one histogram per stream: against counting pairs in a large sample."""

import numpy as np
import pytest

from dovetail.control.ages import AgeHistogram, slice_scores

SECOND = 1_000_000


def learned(differences: np.ndarray) -> AgeHistogram:
    histogram = AgeHistogram.between(-20 * SECOND, 20 * SECOND, SECOND // 2)
    histogram.add(differences)
    return histogram


def test_scores_are_the_shares_of_results_by_age() -> None:
    random = np.random.default_rng(1)
    b = (random.normal(4, 1, 50_000) * SECOND).astype(np.int64)
    c = (random.normal(9, 2, 50_000) * SECOND).astype(np.int64)
    histograms = {"B": learned(b), "C": learned(c)}
    edges = np.arange(-10, 21, 2) * SECOND
    pairs = {("B", "A"): b, ("A", "B"): -b, ("C", "A"): c, ("C", "B"): c - b, ("B", "C"): b - c}
    for (arriving, probed), ages in pairs.items():
        expected = np.histogram(ages, edges)[0] / len(ages)
        found = slice_scores(histograms, "A", arriving, probed, edges)
        assert np.abs(found - expected).max() < 0.03, (arriving, probed)


def test_nothing_learned_scores_nothing() -> None:
    empty = AgeHistogram.between(-SECOND, SECOND, 1000)
    assert slice_scores({"B": empty}, "A", "B", "A", np.array([0, SECOND])).tolist() == [0.0]


def test_what_lies_outside_counts_at_the_ends_and_old_counts_fade() -> None:
    histogram = AgeHistogram.between(-2, 2, 1)
    histogram.add(np.array([-9, -2, 1, 9]))
    histogram.fade(0.5)
    assert histogram.counts.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert histogram.total == pytest.approx(2.0)
    assert AgeHistogram.from_json(histogram.to_json()).counts.tolist() == histogram.counts.tolist()
