"""The streams that Kang's figures are fed, and the join on them."""

import numpy as np
import pytest

from dovetail.plan.kang_shares import output_rate
from experiments.two_streams import Fed, cpu_times, results_per_second, rows_of


def test_dropping_leaves_the_regulated_rate() -> None:
    fed = Fed(80, 9, keys=50).regulated(8)
    assert rows_of(fed, 0, 500, np.random.default_rng(1)).num_rows == pytest.approx(4000, rel=0.06)


def test_the_join_gives_what_equation_9_says() -> None:
    a, b = Fed(20, 3, keys=40), Fed(10, 6, keys=20)
    assert results_per_second(a, b, seconds=300) == pytest.approx(output_rate(1 / 40, 20, 10, 3, 6), rel=0.1)


def test_a_stream_without_window_only_probes() -> None:
    a, b = Fed(20, 0, keys=10), Fed(10, 6, keys=10)
    assert results_per_second(a, b, seconds=300) == pytest.approx(20 * 60 / 10, rel=0.1)


def test_cpu_time_is_positive_for_each_way_to_store() -> None:
    a, b = Fed(5, 0, keys=10), Fed(20, 60, keys=10)
    times = cpu_times(a, b, {"one": ("scan", "hash"), "other": ("scan", "scan")}, repeats=2)
    assert set(times) == {"one", "other"}
    assert min(times.values()) > 0
