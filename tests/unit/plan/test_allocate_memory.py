"""Memory goes where a stored tuple is worth most: Kang's closed form for two streams, a search for more."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.plan.allocate_memory import allocate_memory, output
from dovetail.plan.kang_shares import shared_memory

AMOUNTS = st.floats(1, 1000)


@given(AMOUNTS, AMOUNTS, AMOUNTS, st.floats(1, 100), st.floats(1, 100))
def test_two_streams_share_as_kang_says(a: float, b: float, memory: float, a_window: float, b_window: float) -> None:
    rates, full = {"A": a, "B": b}, {"A": a * a_window, "B": b * b_window}
    kept = allocate_memory(rates, full, memory)
    expected = dict(zip("AB", shared_memory(a, b, memory, a_window, b_window), strict=True))
    assert output(rates, kept) == pytest.approx(output(rates, expected))


@pytest.mark.parametrize("memory", [10, 40, 75])
@pytest.mark.parametrize("rates", [(1, 1, 1), (1, 2, 10), (1, 20, 20), (5, 5, 1)])
def test_three_streams_do_as_well_as_every_division_tried(rates: tuple[float, ...], memory: int) -> None:
    by_name, full = dict(zip("ABC", rates, strict=True)), {"A": 30.0, "B": 40.0, "C": 50.0}
    sizes = {"A": 1.0, "B": 2.0, "C": 1.0}
    kept = allocate_memory(by_name, full, memory, sizes)
    assert sum(kept[name] * sizes[name] for name in kept) <= memory * (1 + 1e-9)
    assert all(0 <= kept[name] <= full[name] * (1 + 1e-9) for name in kept)
    tried = (
        {"A": a, "B": b, "C": min(memory - a - 2 * b, full["C"])}
        for a, b in product(range(31), range(41))
        if a + 2 * b <= memory
    )
    assert output(by_name, kept) >= max(output(by_name, each) for each in tried) * (1 - 1e-6)


def test_equal_streams_share_equally() -> None:
    kept = allocate_memory(dict.fromkeys("ABCD", 7.0), dict.fromkeys("ABCD", 100.0), 80)
    assert kept == pytest.approx(dict.fromkeys("ABCD", 20.0))


def test_nothing_is_taken_from_windows_that_fit() -> None:
    assert allocate_memory({"A": 1, "B": 2}, {"A": 10, "B": 20}, 30) == {"A": 10, "B": 20}
