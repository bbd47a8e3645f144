"""A band as kernels compare it: bounds in the number type of the values, flags, and the range of values it allows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine import kernels
from dovetail.engine.combine.partial import Ids
from dovetail.model.predicate import Band

_ENDS = np.iinfo(np.int64)


class BandArguments:
    """What kernels are told of a band: bounds in their number type, and flags; made once for each type."""

    def __init__(self, band: Band, is_left: bool) -> None:
        self._band, self._is_left = band, is_left
        self._known: dict[np.dtype, tuple[Any, Any, int]] = {}

    def of(self, dtype: np.dtype) -> tuple[Any, Any, int]:
        """The bounds and flags for values of this type."""
        if dtype not in self._known:
            self._known[dtype] = _arguments(self._band, self._is_left, dtype)
        return self._known[dtype]


def _arguments(band: Band, is_left: bool, dtype: np.dtype) -> tuple[Any, Any, int]:
    flags = kernels.WINDOW_IS_LEFT if is_left else 0
    flags |= kernels.HAS_LOW if band.low is not None else 0
    flags |= kernels.HAS_HIGH if band.high is not None else 0
    flags |= kernels.LOW_STRICT if band.low_strict else 0
    flags |= kernels.HIGH_STRICT if band.high_strict else 0
    if (band.low, band.high) in ((0, None), (None, 0)):
        flags |= kernels.PLAIN
    flags |= kernels.MOVED if band.moved else 0
    if dtype == np.int64:
        flags |= kernels.EXACT
    return dtype.type(band.low or 0), dtype.type(band.high or 0), flags


def value_ranges(
    values: npt.NDArray[Any], low: Any, high: Any, flags: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """For each value the smallest and largest window value that can lie in its band.

    Of integers exactly these do, and where there are none the smallest is above the largest. Floats are widened by
    more than rounding can move a difference.
    """
    if flags & kernels.EXACT:
        low, high = int(low) + bool(flags & kernels.LOW_STRICT), int(high) - bool(flags & kernels.HIGH_STRICT)
    if flags & kernels.WINDOW_IS_LEFT:
        below, above, has_below, has_above = low, high, flags & kernels.HAS_LOW, flags & kernels.HAS_HIGH
    else:
        below, above, has_below, has_above = -high, -low, flags & kernels.HAS_HIGH, flags & kernels.HAS_LOW
    if flags & kernels.EXACT:
        return _integers(values, below if has_below else None, above if has_above else None)
    ranges: tuple[npt.NDArray[Any], npt.NDArray[Any]] = kernels.float_ranges(
        values, below if has_below else -np.inf, above if has_above else np.inf
    )
    return ranges


def _integers(values: Ids, below: int | None, above: int | None) -> tuple[Ids, Ids]:
    firsts, lasts = np.full(len(values), _ENDS.min), np.full(len(values), _ENDS.max)
    if below is not None:
        moved, too_small, too_large = _moved(values, below)
        firsts = np.where(too_small, _ENDS.min, moved)
        lasts[too_large] = _ENDS.min
        firsts[too_large] = _ENDS.max
    if above is not None:
        moved, too_small, too_large = _moved(values, above)
        lasts = np.where(too_large, lasts, np.where(too_small, _ENDS.min, np.minimum(moved, lasts)))
        firsts[too_small] = _ENDS.max
    return firsts, lasts


def _moved(values: Ids, by: int) -> tuple[Ids, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Sums, and which of them fell below and above what 64 bits hold."""
    step = np.int64(min(max(by, _ENDS.min), _ENDS.max))
    moved = values + step
    return moved, (step < 0) & (moved > values), (step > 0) & (moved < values)
