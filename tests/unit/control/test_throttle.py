"""The throttle fraction by consumed and arrived tuples, and the keep rate where it can close no further."""

import pytest

from dovetail.control.throttle import FEWEST, SMALLEST, Throttle


def test_it_closes_by_what_was_consumed_and_opens_by_the_boost() -> None:
    throttle = Throttle(boost=1.2)
    seen = []
    for consumed, arrived in ((100, 100), (40, 100), (50, 100), (100, 100), (120, 100), (0, 0)):
        throttle.adapt(consumed, arrived)
        seen.append(throttle.z)
    assert seen == pytest.approx([1.0, 0.4, 0.2, 0.24, 0.288, 0.288])


def test_below_the_smallest_setting_tuples_go_and_come_back_first() -> None:
    throttle = Throttle(boost=1.5, z=2 * SMALLEST)
    throttle.adapt(1, 100)
    assert (throttle.z, throttle.kept) == (SMALLEST, 1.0)
    throttle.adapt(20, 100)
    assert (throttle.z, throttle.kept) == pytest.approx((SMALLEST, 0.2))
    throttle.adapt(100, 100)
    assert (throttle.z, throttle.kept) == pytest.approx((SMALLEST, 0.3))
    for _ in range(4):
        throttle.adapt(100, 100)
    assert (throttle.z, throttle.kept) == pytest.approx((1.5 * SMALLEST, 1.0))


def test_it_moves_within_its_bounds() -> None:
    throttle = Throttle(boost=1.2, z=0.2)
    throttle.move(0.05, 0.5)
    assert (throttle.z, throttle.kept) == (0.05, 0.5)
    throttle.move(1e6, 2.0)
    assert (throttle.z, throttle.kept) == (1.0, 1.0)
    throttle.move(1e-9, 0.0)
    assert (throttle.z, throttle.kept) == (SMALLEST, FEWEST)
