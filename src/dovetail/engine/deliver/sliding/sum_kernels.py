# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# A kernel's types are the machine types in its Numba signature, which Numba checks.
"""Sums without rounding: a number is a row of digits of 32 bits, and adding one touches only a few of them.

A row of digits stands for ``sum(digit[i] * 2 ** (32 i)) * 2 ** scale``. Between changes all digits but the last, which
is signed, are in 0 .. 2 ** 32 - 1. Whole numbers and decimals of 128 bits need 6 digits and scale 0. Doubles are whole
multiples of 2 ** -1074, at most 2 ** 2098 of them: 69 digits leave room for 2 ** 100 of the largest.
"""

import math

import numpy as np

from dovetail.kernel import kernel

WHOLE_DIGITS, DOUBLE_DIGITS = 6, 69
DOUBLE_SCALE = -1074
NAN, PLUS, MINUS = 0, 1, 2

_I8 = "int64[::1]"
_ROWS = "int64[:, ::1]"
_LOW = np.int64(0xFFFFFFFF)


@kernel(f"void({_I8})")
def _carry(digits):
    carry = np.int64(0)
    last = len(digits) - 1
    for at in range(last):
        digit = digits[at] + carry
        digits[at] = digit & _LOW
        carry = digit >> 32
    digits[last] += carry


@kernel(f"boolean({_I8}, int64, int64)")
def _rounds_up(digits, first, kept):
    """Whether the bits from ``first`` down are more than half of the last bit kept, or half and that bit is odd."""
    at, bit = first >> 5, first & 31
    if not (digits[at] >> bit) & 1:
        return False
    below = digits[at] & ((np.int64(1) << bit) - 1)
    for lower in range(at):
        below |= digits[lower]
    return below != 0 or kept & 1 == 1


@kernel(f"float64({_I8}, {_I8}, int64)")
def _rounded(digits, scratch, scale):
    """The double nearest to a carried row of digits, ties to even."""
    negative = digits[len(digits) - 1] < 0
    for at in range(len(digits)):
        scratch[at] = -digits[at] if negative else digits[at]
    if negative:
        _carry(scratch)
    top = len(digits) - 1
    while top >= 0 and scratch[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    length = np.int64(0)
    while scratch[top] >> length:
        length += 1
    total = 32 * top + length
    drop = total - 53 if total > 53 else 0
    kept = np.int64(0)
    for bit in range(total - 1, drop - 1, -1):
        kept = (kept << 1) | ((scratch[bit >> 5] >> (bit & 31)) & 1)
    if drop and _rounds_up(scratch, drop - 1, kept):
        kept += 1
    value = math.ldexp(float(kept), drop + scale)
    return -value if negative else value


@kernel(f"void({_I8}, {_I8}, {_I8}, {_I8}, int64, int64)")
def _add_whole(digits, weights, lows, highs, start, stop):
    for at in range(start, stop):
        weight = weights[at]
        digits[0] += weight * (lows[at] & _LOW)
        digits[1] += weight * ((lows[at] >> 32) & _LOW)
        digits[2] += weight * (highs[at] & _LOW)
        digits[3] += weight * (highs[at] >> 32)
    _carry(digits)


@kernel(f"void({_I8}, {_I8}, {_I8}, {_I8}, {_I8}, {_ROWS}, {_ROWS}, boolean[::1])")
def sum_whole_runs(groups, weights, lows, highs, starts, sums, summed, beyond):
    """Each run's group as 128 bits, low word first; ``beyond`` where they do not suffice."""
    for run in range(len(starts) - 1):
        digits = sums[groups[starts[run]]]
        _add_whole(digits, weights, lows, highs, starts[run], starts[run + 1])
        summed[run, 0] = digits[0] | (digits[1] << 32)
        summed[run, 1] = digits[2] | (digits[3] << 32)
        sign = summed[run, 1] >> 63
        beyond[run] = digits[4] != sign & _LOW or digits[5] != sign


@kernel(f"void({_I8}, {_I8}, {_I8}, {_I8}, {_I8}, {_ROWS}, float64[::1])")
def round_whole_runs(groups, weights, lows, highs, starts, sums, summed):
    """Each run's group as the nearest double."""
    scratch = np.empty(sums.shape[1], np.int64)
    for run in range(len(starts) - 1):
        digits = sums[groups[starts[run]]]
        _add_whole(digits, weights, lows, highs, starts[run], starts[run + 1])
        summed[run] = _rounded(digits, scratch, 0)


@kernel(f"void({_I8}, float64, int64)")
def _add_double(digits, value, weight):
    fraction, exponent = math.frexp(abs(value))
    whole, place = np.int64(math.ldexp(fraction, 53)), exponent - 53 - DOUBLE_SCALE
    if place < 0:  # below the normal range: the lowest bits are zero
        whole, place = whole >> -place, 0
    if value < 0:
        weight = -weight
    at, shift = place >> 5, place & 31
    low = (whole & _LOW) << shift
    high = ((whole >> 32) << shift) + (low >> 32 & _LOW)
    digits[at] += weight * (low & _LOW)
    digits[at + 1] += weight * (high & _LOW)
    digits[at + 2] += weight * (high >> 32)


@kernel(f"void({_I8}, {_I8}, float64[::1], {_I8}, {_ROWS}, {_ROWS}, float64[::1])")
def sum_double_runs(groups, weights, values, starts, sums, oddities, summed):
    """Each run's group as the double nearest to the exact sum; NaN and infinities are counted beside."""
    scratch = np.empty(sums.shape[1], np.int64)
    for run in range(len(starts) - 1):
        group = groups[starts[run]]
        digits, odd = sums[group], oddities[group]
        for at in range(starts[run], starts[run + 1]):
            value, weight = values[at], weights[at]
            if weight == 0:
                continue
            if value != value:
                odd[NAN] += weight
            elif math.isinf(value):
                odd[PLUS if value > 0 else MINUS] += weight
            elif value != 0:
                _add_double(digits, value, weight)
        _carry(digits)
        if odd[NAN] or (odd[PLUS] and odd[MINUS]):
            summed[run] = np.nan
        elif odd[PLUS] or odd[MINUS]:
            summed[run] = np.inf if odd[PLUS] else -np.inf
        else:
            summed[run] = _rounded(digits, scratch, DOUBLE_SCALE)
