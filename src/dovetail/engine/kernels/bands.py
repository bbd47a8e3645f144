"""One band, one pair of values."""

import numpy as np

from dovetail.engine.kernels.signature import F8
from dovetail.kernel import interpretable, part

HAS_LOW, HAS_HIGH, LOW_STRICT, HIGH_STRICT, WINDOW_IS_LEFT, PLAIN = 1, 2, 4, 8, 16, 32  # bits
EXACT = 64  # the ranges of values say it all: integers, whose differences might not fit
MOVED = 128  # bounds are added to the right side

_ROUNDING = 4e-15  # of a value: more than a subtraction of floats can round away


@part
def in_band(window_value, value, low, high, flags):
    """Whether ``low <= left - right <= high``, or ``right + low <= left <= right + high``, or a plain comparison."""
    left, right = (window_value, value) if flags & WINDOW_IS_LEFT else (value, window_value)
    if flags & PLAIN:
        if flags & HAS_LOW:
            return left > right if flags & LOW_STRICT else left >= right
        return left < right if flags & HIGH_STRICT else left <= right
    if flags & MOVED:
        first, last = right + low, right + high
        if flags & HAS_LOW and not (left > first if flags & LOW_STRICT else left >= first):
            return False
        return not (flags & HAS_HIGH) or (left < last if flags & HIGH_STRICT else left <= last)
    gap = left - right  # NaN for two equal infinities, and then in no band
    if flags & HAS_LOW and not (gap > low if flags & LOW_STRICT else gap >= low):
        return False
    return not (flags & HAS_HIGH) or (gap < high if flags & HIGH_STRICT else gap <= high)


@interpretable(f"UniTuple({F8}, 2)(Array(float64, 1, 'C', readonly=True), float64, float64)")
def float_ranges(values, below, above):
    """The smallest and largest float within [value + below, value + above], widened by what rounding can move."""
    firsts, lasts = np.empty(len(values)), np.empty(len(values))
    for at in range(len(values)):
        value = values[at]
        low, high = _ROUNDING * abs(value) + _ROUNDING * abs(below), _ROUNDING * abs(value) + _ROUNDING * abs(above)
        firsts[at] = below if np.isinf(below) else ((0.0 if np.isinf(low) else -low) + value) + below
        lasts[at] = above if np.isinf(above) else ((0.0 if np.isinf(high) else high) + value) + above
    return firsts, lasts
