# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# A kernel's types are the machine types it is called with, which Numba checks.
"""Remainders of decimals of 128 bits, each as a low and a high word.

Both sides are brought to one scale without ever writing the larger number out: with ``a`` of fewer digits after the
point, ``(a * 10 ** n) % b`` is ``n`` times ``r = (10 * r) % b``; with ``b`` of fewer, ``b * 10 ** n`` is either below
2 ** 127 or larger than every dividend, which then is its own remainder.

    7.5 % 2.25   ->   750 % 225 = 75   ->   0.75
"""

import numpy as np

from dovetail.kernel import kernel, part

_WORDS = "Array(uint64, 2, 'C', readonly=True)"

_ZERO, _ONE, _TEN = np.uint64(0), np.uint64(1), np.uint64(10)  # kernels mix signed and unsigned numbers to floats
_HALF, _LOW, _TOP = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(63)  # a word in two halves, and its sign
_TENTH = np.uint64(1 << 59)  # a high word from which ten times the number is above 2 ** 126, and so above 10 ** 38 - 1


@kernel(f"void({_WORDS}, {_WORDS}, int64, int64, uint64[:, ::1], boolean[::1])")
def find_remainders(left, right, left_up, right_up, found, known):
    """found[i] = left[i] * 10 ** left_up % (right[i] * 10 ** right_up); ``known[i]`` is cleared for a zero divisor."""
    for at in range(len(known)):
        low, high = _magnitude(right[at, 0], right[at, 1])
        if not known[at] or (low == _ZERO and high == _ZERO):
            known[at] = False
            continue
        rest_low, rest_high = _magnitude(left[at, 0], left[at, 1])
        beyond = False
        for _ in range(right_up):
            beyond = beyond or high >= _TENTH
            low, high = _ten_times(low, high)
        if not beyond:
            rest_low, rest_high = _rest(rest_low, rest_high, low, high)
            for _ in range(left_up):
                rest_low, rest_high = _ten_times_rest(rest_low, rest_high, low, high)
        if left[at, 1] >> _TOP:
            rest_low, rest_high = _negative(rest_low, rest_high)
        found[at, 0], found[at, 1] = rest_low, rest_high


@part
def _negative(low, high):
    low, high = ~low + _ONE, ~high
    return low, high + _ONE if low == _ZERO else high


@part
def _magnitude(low, high):
    return _negative(low, high) if high >> _TOP else (low, high)


@part
def _ten_times(low, high):
    small = (low & _LOW) * _TEN
    large = (low >> _HALF) * _TEN + (small >> _HALF)
    return (large << _HALF) | (small & _LOW), high * _TEN + (large >> _HALF)


@part
def _reduced(low, high, by_low, by_high):
    """A number below twice the divisor, less the divisor if it is not below it."""
    if high < by_high or (high == by_high and low < by_low):
        return low, high
    borrow = _ONE if low < by_low else _ZERO
    return low - by_low, high - by_high - borrow


@part
def _rest(low, high, by_low, by_high):
    if high == _ZERO and by_high == _ZERO:
        return low % by_low, _ZERO
    rest_low, rest_high = _ZERO, _ZERO
    for at in range(128):
        word, bit = (high, np.uint64(63 - at)) if at < 64 else (low, np.uint64(127 - at))
        rest_high = (rest_high << _ONE) | (rest_low >> _TOP)
        rest_low = (rest_low << _ONE) | ((word >> bit) & _ONE)
        rest_low, rest_high = _reduced(rest_low, rest_high, by_low, by_high)
    return rest_low, rest_high


@part
def _ten_times_rest(low, high, by_low, by_high):
    """Ten times a number below the divisor, modulo it: 8 r + 2 r, reduced after every step."""
    two_low, two_high = _sum_rest(low, high, low, high, by_low, by_high)
    four_low, four_high = _sum_rest(two_low, two_high, two_low, two_high, by_low, by_high)
    eight_low, eight_high = _sum_rest(four_low, four_high, four_low, four_high, by_low, by_high)
    return _sum_rest(eight_low, eight_high, two_low, two_high, by_low, by_high)


@part
def _sum_rest(low, high, more_low, more_high, by_low, by_high):
    total = low + more_low
    carry = _ONE if total < low else _ZERO
    return _reduced(total, high + more_high + carry, by_low, by_high)
