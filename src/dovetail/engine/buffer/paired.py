"""A sorted index over a window by key and then by value: an equality and a range of values are one search.

    codes   [ 1 1 1 4 4 | 1 4 4 ]        keys in order within each run
    ranked  [ 2 5 9 1 7 | 3 2 8 ]        and the values of one key in order
    ids     [ 3 0 2 1 4 | 6 5 7 ]

A probe for key 4 and values from 1 to 3 finds (4, 1) in the first run and (4, 2) in the second, and looks at nothing
else; chains would lead through every tuple of key 4, and runs sorted by value through every value from 1 to 3.
"""

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.ranked import SortedIndex, Values, comparable
from dovetail.engine.kernels import merge_pairs


class PairIndex(SortedIndex):
    """Sorted runs over the pairs of a key's code and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.codes = np.empty(0, np.int64)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.codes.nbytes

    def insert_pairs(self, codes: npt.NDArray[np.int64], values: Values, base: int, first: int, last: int) -> None:
        """Add the tuples with ids first..last-1, whose codes and values stand at slot id - base."""
        keys, block = codes[first - base : last - base], comparable(values[first - base : last - base])
        order = np.lexsort((block, keys))
        run = self._new_run(order + first, first, values.dtype)
        self.codes[run], self.ranked[run] = keys[order], block[order]
        self._merge_small_runs()

    def _make_room(self, more: int, dtype: np.dtype) -> None:
        super()._make_room(more, dtype)
        if len(self.codes) < len(self.ranked):
            used = int(self.runs[-1])
            codes = np.empty(len(self.ranked), np.int64)
            codes[:used] = self.codes[:used]
            self.codes = codes

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        super()._keep(kept)
        self.codes = self.codes[: len(kept)][kept]

    def _merge(self, first: int, middle: int, last: int) -> None:
        size = last - first
        codes, ranked, ids = np.empty(size, np.int64), np.empty(size, self.ranked.dtype), np.empty(size, np.int64)
        merge_pairs(self.codes, self.ranked, self.ids, first, middle, last, codes, ranked, ids)
        self.codes[first:last], self.ranked[first:last], self.ids[first:last] = codes, ranked, ids
