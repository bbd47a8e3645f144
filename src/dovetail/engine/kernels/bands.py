"""One band, one pair of values."""

from dovetail.kernel import part

HAS_LOW, HAS_HIGH, LOW_STRICT, HIGH_STRICT, WINDOW_IS_LEFT, PLAIN = 1, 2, 4, 8, 16, 32
EXACT = 64  # the ranges of values say it all: integers, whose differences might not fit


@part
def in_band(window_value, value, low, high, flags):
    """Whether ``low <= left - right <= high``; a plain comparison is made without subtracting."""
    left, right = (window_value, value) if flags & WINDOW_IS_LEFT else (value, window_value)
    if flags & PLAIN:
        if flags & HAS_LOW:
            return left > right if flags & LOW_STRICT else left >= right
        return left < right if flags & HIGH_STRICT else left <= right
    gap = left - right  # NaN for two equal infinities, and then in no band
    if flags & HAS_LOW and not (gap > low if flags & LOW_STRICT else gap >= low):
        return False
    return not (flags & HAS_HIGH) or (gap < high if flags & HIGH_STRICT else gap <= high)
