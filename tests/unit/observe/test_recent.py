"""Sums that follow change."""

from dovetail.observe.recent import Recent


def rate(sums: Recent, name: str) -> float:
    return sums[name] / sums.seconds


def test_a_steady_rate_is_found_and_a_new_one_within_a_few_seconds() -> None:
    sums = Recent()
    for _ in range(100):
        sums.add(0.25, {"A": 250_000})
    assert rate(sums, "A") == 1_000_000
    for _ in range(17):
        sums.add(0.25, {"A": 1})
    assert rate(sums, "A") == 4


def test_slow_streams_are_not_forgotten_between_two_tuples() -> None:
    sums = Recent()
    for _ in range(20):
        sums.add(60.0, {"A": 1})
    assert rate(sums, "A") == 1 / 60


def test_what_never_happened_is_zero() -> None:
    sums = Recent()
    sums.add(1.0, {"A": 1})
    assert sums["B"] == 0
    assert list(sums) == ["A"]


def test_a_full_span_can_be_forgotten_at_once() -> None:
    sums = Recent()
    for amount in (100, 100, 1):
        sums.add(2.0, {"A": amount})
    assert rate(sums, "A") == 101 / 4
    sums.renew()
    assert rate(sums, "A") == 1 / 2
