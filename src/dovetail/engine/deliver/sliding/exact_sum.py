"""SUM and AVG, exactly: what goes is taken off the very digits it was added to, and only what comes out is rounded.

So a sum depends on the values that count now and on nothing that came before them, however the input was cut:

    1e100 comes, 1.5 comes, 1e100 goes      1.5, where subtracting doubles would leave 0.0

    whole numbers   SUM: int64, NULL while that is too small              AVG: the double nearest to the exact average
    decimals        SUM: decimal(38, s), NULL while that is too small     AVG: as of doubles
    doubles         SUM: the double nearest to the exact sum              AVG: the double nearest to the exact average

A sum that has become too large stays exact inside, and comes out again once enough of it has gone.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.arrow_values import values_of
from dovetail.engine.deliver.sliding.changes import Changes, Integers, grown
from dovetail.engine.deliver.sliding.counts import Counting, present
from dovetail.engine.kernels.exact_sums import (
    DOUBLE_DIGITS,
    WHOLE_DIGITS,
    average_whole_runs,
    sum_double_runs,
    sum_whole_runs,
)

_MOST = 10**38  # a decimal of 128 bits has 38 digits
_WORD = 1 << 64  # a sum is kept as a high and a low word of 64 bits


class SummingWhole:
    """Sums of whole numbers and of decimals, of at most 128 bits."""

    size = 0

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._sums = np.zeros((0, WHOLE_DIGITS), np.int64)
        self._counting = Counting()

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The sum of each run's group after it; NULL if nothing in it counts or it is too large."""
        assert argument is not None
        weights = present(changes.weights, argument)
        self._sums = grown(self._sums, groups)
        summed, beyond = np.empty((changes.runs, 2), np.int64), np.empty(changes.runs, np.bool_)
        lows, highs = words(argument)
        sum_whole_runs(changes.groups, weights, lows, highs, changes.starts, self._sums, summed, beyond)
        empty = self._counting.counted(changes, weights, groups) == 0
        return self._as_array(summed, beyond, empty)

    def _as_array(self, summed: Integers, beyond: npt.NDArray[np.bool_], empty: npt.NDArray[np.bool_]) -> pa.Array:
        decimal = pa.types.is_decimal(self._type)
        too_large = beyond | (_beyond_decimal(summed) if decimal else summed[:, 1] != summed[:, 0] >> 63)
        missing = empty | too_large
        if not decimal:
            return pa.array(summed[:, 0], mask=missing, from_pandas=False)
        valid = pa.array(~missing).buffers()[1]
        data = pa.py_buffer(np.ascontiguousarray(summed))
        return pa.Array.from_buffers(self._type, len(summed), [valid, data])


class Averaging:
    """Averages of whole numbers."""

    size = 0

    def __init__(self) -> None:
        self._sums = np.zeros((0, WHOLE_DIGITS), np.int64)
        self._counting = Counting()

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The average of each run's group after it; NULL if nothing in it counts."""
        assert argument is not None
        weights = present(changes.weights, argument)
        self._sums = grown(self._sums, groups)
        counts = self._counting.counted(changes, weights, groups)
        averages = np.empty(changes.runs)
        lows, highs = words(argument)
        average_whole_runs(changes.groups, weights, lows, highs, changes.starts, self._sums, counts, averages)
        return pa.array(averages, mask=counts == 0, from_pandas=False)


class SummingDoubles:
    """Sums and averages of doubles."""

    size = 0

    def __init__(self, average: bool) -> None:
        self._average = average
        self._sums = np.zeros((0, DOUBLE_DIGITS), np.int64)
        self._oddities = np.zeros((0, 3), np.int64)
        self._counting = Counting()

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The sum or average of each run's group after it; NULL if nothing in it counts."""
        assert argument is not None
        weights = present(changes.weights, argument)
        self._sums, self._oddities = grown(self._sums, groups), grown(self._oddities, groups)
        values = np.array(values_of(argument.cast(pa.float64())))
        counts = self._counting.counted(changes, weights, groups)
        divisors = counts if self._average else np.ones_like(counts)
        summed = np.empty(changes.runs)
        sum_double_runs(changes.groups, weights, values, changes.starts, self._sums, self._oddities, divisors, summed)
        return pa.array(summed, mask=counts == 0, from_pandas=False)


def words(argument: pa.Array) -> tuple[Integers, Integers]:
    """Numbers as 128 bits: the low and the high word."""
    values = values_of(argument)
    if values.ndim == 2:
        return np.array(values[:, 0]), np.array(values[:, 1])
    lows = np.array(values).astype(np.int64)
    return lows, np.zeros_like(lows) if values.dtype == np.uint64 else lows >> 63


def _beyond_decimal(summed: Integers) -> npt.NDArray[np.bool_]:
    """Which 128-bit numbers have more than 38 digits."""
    lows, highs = np.ascontiguousarray(summed[:, 0]).view(np.uint64), summed[:, 1]
    above = (highs > _MOST // _WORD) | ((highs == _MOST // _WORD) & (lows >= np.uint64(_MOST % _WORD)))
    least_high, least_low = divmod(-_MOST, _WORD)
    below = (highs < least_high) | ((highs == least_high) & (lows <= np.uint64(least_low)))
    beyond: npt.NDArray[np.bool_] = above | below
    return beyond
