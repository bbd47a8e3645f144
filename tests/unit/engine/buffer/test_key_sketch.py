"""Distinct keys from a sketch: close to the truth over six orders of magnitude, while windows slide."""

import numpy as np
import pytest

from dovetail.engine.buffer.key_sketch import KeySketch
from dovetail.engine.kernels.key_sketch import note_keys


@pytest.mark.parametrize("keys", [1, 2, 10, 300, 3_000, 10_000, 100_000, 1_000_000])
def test_the_estimate_is_within_a_tenth(keys: int) -> None:
    codes = np.random.default_rng(keys).integers(0, keys, 1_000_000) * 7919
    sketch = KeySketch()
    sketch.follow(codes, 0, 0, len(codes))
    for tail in (0, 900_000):
        truth = len(np.unique(codes[tail:]))
        assert abs(sketch.estimate(tail) - truth) <= max(0.1 * truth, 1)


def test_an_empty_window_has_no_keys() -> None:
    sketch = KeySketch()
    assert sketch.estimate(0) == 0
    sketch.follow(np.arange(100), 0, 0, 100)
    assert sketch.estimate(100) == 0


@pytest.mark.parametrize("keys", [1, 30, 2000, 50_000])
def test_keys_that_become_few_or_many_are_followed(keys: int) -> None:
    """Full levels are left alone; once keys are few again the first level comes back into use."""
    random, sketch, first = np.random.default_rng(keys), KeySketch(), 0
    for now in (300_000, keys, 300_000, keys):
        for _ in range(4):
            codes = random.integers(0, now, 200_000) * 7919
            sketch.follow(codes, first, first, first + len(codes))
            found, first = sketch.estimate(first), first + len(codes)
        truth = len(np.unique(codes))
        assert abs(found - truth) <= max(0.15 * truth, 1), now


def test_only_what_is_live_and_new_is_taken_in() -> None:
    """Slots 0 to 99 stand for ids 500 to 599, of which those before 550 have expired."""
    sketch, codes = KeySketch(), np.arange(100)
    sketch.follow(codes, 500, 550, 600)
    assert round(sketch.estimate(550)) == 50
    sketch.follow(np.full(100, 7), 500, 550, 600)
    assert round(sketch.estimate(550)) == 50
    sketch.follow(np.arange(1000, 1100), 550, 560, 650)
    assert round(sketch.estimate(560)) == 90


@pytest.mark.parametrize("least", [0, 1, 2])
def test_the_kernel_does_what_its_plain_twin_does(least: int) -> None:
    codes = np.random.default_rng(1).integers(-(2**62), 2**62, 3000)
    registers = np.full((3, 4096), -1, np.int64)
    note_keys(codes, 5, registers, least)
    expected = plain(codes, 5)
    expected[:least] = -1
    assert np.array_equal(registers, expected)


def plain(codes: np.ndarray, first: int) -> np.ndarray:
    registers, mask = np.full((3, 4096), -1, np.int64), (1 << 64) - 1
    for at, code in enumerate(codes.tolist()):
        word = code & mask
        word = ((word ^ (word >> 32)) * 0xD6E8FEB86659FD93) & mask
        word ^= word >> 32
        registers[0, word % 4096] = first + at
        if (word >> 48) % 16 == 0:
            registers[1, word % 4096] = first + at
            if (word >> 52) % 16 == 0:
                registers[2, word % 4096] = first + at
    return registers
