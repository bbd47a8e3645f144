# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# A kernel's types are the machine types in its Numba signature, which Numba checks.
"""Sums without rounding: a number is a row of digits of 32 bits, and adding one touches only a few of them.

A row of digits stands for ``sum(digit[i] * 2 ** (32 i)) * 2 ** scale``. Between changes all digits but the last, which
is signed, are in 0 .. 2 ** 32 - 1. Whole numbers and decimals of 128 bits need 6 digits and scale 0. Doubles are whole
multiples of 2 ** -1074, at most 2 ** 2098 of them: 69 digits leave room for 2 ** 100 of the largest.
An average is the row of digits divided by a count and rounded once, so that the average of equal values is their value.
"""

import math

import numpy as np

from dovetail.engine.kernels.signature import I8
from dovetail.kernel import kernel

WHOLE_DIGITS, DOUBLE_DIGITS = 6, 69  # of 32 bits: 128 bits and room for carries; all bits that doubles have
FRACTION_DIGITS = 3  # of 1 / count: with a count below 2 ** 32 they leave 64 bits, more than a double shows
DOUBLE_SCALE = -1074  # the smallest double is 2 ** -1074
NAN, PLUS, MINUS = 0, 1, 2  # places of the counts of what cannot be added up

_ROWS = "int64[:, ::1]"
_LOW = np.int64(0xFFFFFFFF)


@kernel(f"void({I8})")
def _carry(digits):
    carry = np.int64(0)
    last = len(digits) - 1
    for at in range(last):
        digit = digits[at] + carry
        digits[at] = digit & _LOW
        carry = digit >> 32
    digits[last] += carry


@kernel(f"boolean({I8}, int64, int64)")
def _rounds_up(digits, first, kept):
    """Whether the bits from ``first`` down are more than half of the last bit kept, or half and that bit is odd."""
    at, bit = first >> 5, first & 31
    if not (digits[at] >> bit) & 1:
        return False
    below = digits[at] & ((np.int64(1) << bit) - 1)
    for lower in range(at):
        below |= digits[lower]
    return below != 0 or kept & 1 == 1


@kernel(f"float64({I8}, int64)")
def _nearest(digits, scale):
    """The double nearest to a row of digits none of which is negative, ties to even."""
    top = len(digits) - 1
    while top >= 0 and digits[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    length = np.int64(0)
    while digits[top] >> length:
        length += 1
    total = 32 * top + length
    drop = max(total - 53, DOUBLE_SCALE - scale, 0)  # no double has bits below 2 ** DOUBLE_SCALE
    kept = np.int64(0)
    for bit in range(total - 1, drop - 1, -1):
        kept = (kept << 1) | ((digits[bit >> 5] >> (bit & 31)) & 1)
    if drop and _rounds_up(digits, drop - 1, kept):
        kept += 1
    return math.ldexp(float(kept), drop + scale)


@kernel(f"void({I8}, int64)")
def _divide(digits, count):
    """Digits by a count below 2 ** 32; the last bit is set if anything is left over, which rounding then sees."""
    left, by = np.uint64(0), np.uint64(count)
    for at in range(len(digits) - 1, -1, -1):
        left = (left << np.uint64(32)) | np.uint64(digits[at])
        digits[at] = np.int64(left // by)
        left = left % by
    if left:
        digits[0] |= 1


@kernel(f"float64({I8}, {I8}, int64, int64)")
def _rounded(digits, scratch, scale, count):
    """The double nearest to a carried row of digits, divided by a count, rounded once."""
    negative = digits[len(digits) - 1] < 0
    scratch[:FRACTION_DIGITS] = 0
    for at in range(len(digits)):
        scratch[FRACTION_DIGITS + at] = -digits[at] if negative else digits[at]
    if negative:
        _carry(scratch[FRACTION_DIGITS:])
    if count > 1:
        _divide(scratch, count)
    value = _nearest(scratch, scale - 32 * FRACTION_DIGITS)
    return -value if negative else value


@kernel(f"void({I8}, {I8}, {I8}, {I8}, int64, int64)")
def _add_whole(digits, weights, lows, highs, start, stop):
    for at in range(start, stop):
        weight = weights[at]
        digits[0] += weight * (lows[at] & _LOW)
        digits[1] += weight * ((lows[at] >> 32) & _LOW)
        digits[2] += weight * (highs[at] & _LOW)
        digits[3] += weight * (highs[at] >> 32)
    _carry(digits)


@kernel(f"void({I8}, {I8}, {I8}, {I8}, {I8}, {_ROWS}, {_ROWS}, boolean[::1])")
def sum_whole_runs(groups, weights, lows, highs, starts, sums, summed, beyond):
    """Each run's group as 128 bits, low word first; ``beyond`` where they do not suffice."""
    for run in range(len(starts) - 1):
        digits = sums[groups[starts[run]]]
        _add_whole(digits, weights, lows, highs, starts[run], starts[run + 1])
        summed[run, 0] = digits[0] | (digits[1] << 32)
        summed[run, 1] = digits[2] | (digits[3] << 32)
        sign = summed[run, 1] >> 63
        beyond[run] = digits[4] != sign & _LOW or digits[5] != sign


@kernel(f"void({I8}, {I8}, {I8}, {I8}, {I8}, {_ROWS}, {I8}, float64[::1])")
def average_whole_runs(groups, weights, lows, highs, starts, sums, counts, averages):
    """The double nearest to the average of each run's group; ``counts`` are of its rows after the run."""
    scratch = np.empty(sums.shape[1] + FRACTION_DIGITS, np.int64)
    for run in range(len(starts) - 1):
        digits = sums[groups[starts[run]]]
        _add_whole(digits, weights, lows, highs, starts[run], starts[run + 1])
        averages[run] = _rounded(digits, scratch, 0, counts[run])


@kernel(f"void({I8}, float64, int64)")
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


@kernel(f"void({I8}, {I8}, float64[::1], {I8}, {_ROWS}, {_ROWS}, {I8}, float64[::1])")
def sum_double_runs(groups, weights, values, starts, sums, oddities, divisors, summed):
    """The double nearest to each run's exact sum by its divisor; NaN and infinities are counted beside."""
    scratch = np.empty(sums.shape[1] + FRACTION_DIGITS, np.int64)
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
            summed[run] = _rounded(digits, scratch, DOUBLE_SCALE, divisors[run])
