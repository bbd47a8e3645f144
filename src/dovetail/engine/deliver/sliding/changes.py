"""A block of comings and goings, by moment and group.

    moment  group  weight
    5       a      +1  \\ run 0: one row comes out, of group a at 5
    5       a      -1  /
    5       b      +1    run 1
    7       a      -1    run 2

All that happens to a group at one moment is one run, so ties are taken together and the order among them is nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Changes:
    """Sorted changes; ``order`` says at which row of the block each was, ``starts`` where runs begin, and the end."""

    order: Integers
    moments: Integers
    groups: Integers
    weights: Integers
    until: Integers
    starts: Integers

    @classmethod
    def of(cls, moments: Integers, groups: Integers, weights: Integers, until: Integers) -> "Changes":
        """Changes in any order, at least one."""
        order = np.lexsort((groups, moments))
        moments, groups, weights = moments[order], groups[order], weights[order]
        new = (moments[1:] != moments[:-1]) | (groups[1:] != groups[:-1])
        starts = np.concatenate(([0], np.flatnonzero(new) + 1, [len(order)])).astype(np.int64)
        return cls(order, moments, groups, weights, until[order], starts)

    @property
    def runs(self) -> int:
        return len(self.starts) - 1

    @property
    def firsts(self) -> Integers:
        """A row of the block for each run."""
        return self.order[self.starts[:-1]]

    def values(self, column: pa.Array) -> pa.Array:
        """A column of the block in the order of the changes."""
        return column.take(pa.array(self.order))


def grown(array: npt.NDArray[Any], size: int, fill: int = 0) -> npt.NDArray[Any]:
    """The array with room for ``size`` rows, at least doubled if it must grow."""
    if size <= len(array):
        return array
    larger = np.full((max(size, 2 * len(array), 64), *array.shape[1:]), fill, array.dtype)
    larger[: len(array)] = array
    return larger
