"""The response-time formulas at the points that the paper works out."""

import pytest

from experiments.order_model import (
    Workload,
    busy,
    gain,
    hold_response,
    largest_compare_s,
    overlap,
    sync_response,
)


def test_the_sum_over_the_gathered_tuples_is_the_formula() -> None:
    load = Workload(compare_s=0.0002, window_s=60, slow=1, fast=10)
    each = [1 / load.slow - k / load.fast + (k + 1) * load.service_s for k in range(10)]
    assert sync_response(load) == pytest.approx(sum(each) / 10)


def test_the_gain_is_that_of_the_responses() -> None:
    load = Workload(0.0005, 60, 1, 10)
    assert gain(load) == pytest.approx(1 - hold_response(load) / sync_response(load))
    assert gain(load) == pytest.approx(0.3 / 1.3)


def test_a_full_server_ends_the_gain_at_a_third() -> None:
    load = Workload(largest_compare_s(60, 1, 10), 60, 1, 10)
    assert load.compare_s == pytest.approx(0.000833, rel=1e-3)
    assert busy(load) == pytest.approx(1)
    assert overlap(load) == pytest.approx(0.5)
    assert gain(load) == pytest.approx(1 / 3)
