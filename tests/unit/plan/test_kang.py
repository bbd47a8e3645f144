"""Kang's formulas at the numbers that the paper works out."""

from math import inf

import pytest

from dovetail.plan.kang_shares import output_rate, regulated_rates, share_both, shared_memory
from experiments.kang_model import (
    Input,
    Kind,
    Weights,
    approximate_crossing,
    cheaper,
    crossing,
    crossing_rate,
    full_cost,
    hash_cost,
    lazy_scan_cost,
    scan_cost,
)

THEIRS = Weights(scan=0.5, hash=0.65)


def inputs(b_rate: float, keys: float = 10) -> tuple[Input, Input]:
    return Input(10, 60, keys), Input(b_rate, 60, keys)


@pytest.mark.parametrize(("keys", "rate"), [(10, 67.0), (20, 144.0)])
def test_the_model_crosses_where_the_figures_do(keys: float, rate: float) -> None:
    found = crossing_rate(10, 60, keys, THEIRS)
    assert found == pytest.approx(rate, abs=0.05)
    a, b = inputs(found, keys)
    assert scan_cost(a, b, THEIRS) == pytest.approx(hash_cost(a, b, THEIRS))
    assert crossing(b, THEIRS) == pytest.approx(found / 10)


def test_the_approximation_for_ten_buckets() -> None:
    assert approximate_crossing(10, THEIRS) == pytest.approx(6.7, abs=0.01)


@pytest.mark.parametrize("b_rate", [5, 50, 66, 68, 200])
def test_the_exact_crossing_names_the_cheaper_one(b_rate: float) -> None:
    a, b = inputs(b_rate)
    assert cheaper(a, b, THEIRS) == ("scan" if b_rate / 10 > crossing(b, THEIRS) else "hash")


def test_where_hash_touches_cost_little_it_never_loses() -> None:
    cheap = Weights(scan=1, hash=0.001)
    a, b = Input(1, 60, 1000), Input(10_000, 60, 1000)
    assert crossing(b, cheap) == inf
    assert cheaper(a, b, cheap) == "hash"


@pytest.mark.parametrize(("keys", "kind"), [(10, "scan"), (20, "hash")])
def test_the_choice_uses_the_regulated_rates(keys: float, kind: Kind) -> None:
    a_rate, b_rate = regulated_rates(5, 100, capacity=50)
    assert (a_rate, b_rate) == (5, 45)
    assert cheaper(Input(a_rate, 60, keys), Input(b_rate, 60, keys), THEIRS) == kind


def test_full_joins_are_the_papers_sums() -> None:
    a, b = Input(10, 60, 10), Input(30, 40, 5)
    hhj = (a.rate + b.rate) * (b.bucket + a.bucket + 1) * THEIRS.hash
    nnj = a.rate * (b.tuples + 2) * THEIRS.scan + b.rate * (a.tuples + 2) * THEIRS.scan
    hnj = a.rate * (b.tuples * THEIRS.scan + (a.bucket + 1) * THEIRS.hash)
    hnj += b.rate * (a.bucket * THEIRS.hash + 2 * THEIRS.scan)
    assert full_cost(a, b, "hash", "hash", THEIRS) == pytest.approx(hhj)
    assert full_cost(a, b, "scan", "scan", THEIRS) == pytest.approx(nnj)
    assert full_cost(a, b, "hash", "scan", THEIRS) == pytest.approx(hnj)


def test_lazy_invalidation_searches_what_piled_up() -> None:
    a, b = Input(10, 60, 10), Input(80, 60, 10)
    assert lazy_scan_cost(a, b, THEIRS) == pytest.approx((10 * (4800 + 4) + 80) * 0.5)
    assert lazy_scan_cost(a, b, THEIRS) < scan_cost(a, b, THEIRS)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [((80, 20), (5, 5)), ((3, 2), (3, 2)), ((100, 2), (8, 2)), ((2, 100), (2, 8))],
)
def test_too_little_cpu(rates: tuple[float, float], expected: tuple[float, float]) -> None:
    assert regulated_rates(*rates, capacity=10) == expected


def test_equal_rates_give_most_output() -> None:
    rates = [output_rate(0.02, a, 10 - a, 9, 1) for a in (1, 2, 5, 8, 9)]
    assert rates == pytest.approx([1.8, 3.2, 5.0, 3.2, 1.8])


def test_too_little_memory_goes_to_the_slower_stream() -> None:
    assert shared_memory(10, 50, 1000) == (1000, 0)
    assert shared_memory(50, 10, 1000) == (0, 1000)
    assert shared_memory(10, 50, 1000, a_window_s=60) == (600, 400)
    assert shared_memory(10, 50, 1000, a_window_s=60, b_window_s=4) == (600, 200)


def test_too_little_of_both_tends_to_the_papers_bound() -> None:
    share = share_both(capacity=10, memory=100, window_s=60)
    assert share.output_rate(0.01) == pytest.approx(0.01 * 100 * (10 - 100 / 60))
    assert share_both(10, 100, 1e9).output_rate(0.01) == pytest.approx(0.01 * 10 * 100)
    tight = share_both(capacity=10, memory=100, window_s=15)
    assert (tight.kept_rate, tight.probing_rate) == (5, 5)
    best = max(min(100, rate * 15) * (10 - rate) for rate in [step / 100 for step in range(1001)])
    assert tight.output_rate(1) == pytest.approx(best)
