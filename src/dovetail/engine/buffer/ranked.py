"""A sorted index over a window: a few sorted runs side by side, oldest first, sizes roughly halving.

    ranked  [ 1 4 4 7 9 | 2 5 8 | 3 6 ]        values in order within each run
    ids     [ 3 0 2 1 4 | 6 5 7 | 9 8 ]        which tuple each belongs to
    runs    0           5       8     10

A block becomes a run of its own; two neighbours merge when the older is less than twice the newer,
so that a tuple is merged a logarithmic number of times and a probe searches a logarithmic number of
runs. Expired tuples stay until their run is merged, or until half of the index has expired.

Where probes look through parts of a window only, runs grow no larger than ``largest``: each is a stretch of time, and
``between`` leaves out those that lie elsewhere.
"""

import numpy as np
import numpy.typing as npt

from dovetail.engine.kernels import merge_runs

Values = npt.NDArray[np.float64] | npt.NDArray[np.int64]
Runs = npt.NDArray[np.int64]


class SortedIndex:
    """Sorted runs over the values of one attribute."""

    def __init__(self) -> None:
        self.ranked: Values = np.empty(0, np.int64)
        self.ids = np.empty(0, np.int64)
        self.runs = np.zeros(1, np.int64)
        self.largest: int | None = None
        self._firsts: list[int] = []  # the first id of each run
        self._end = 0

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing, so that the type of its values need not be known yet."""
        return not self.runs[-1]

    @property
    def nbytes(self) -> int:
        return self.ranked.nbytes + self.ids.nbytes

    def insert(self, values: Values, base: int, first: int, last: int) -> None:
        """Add the tuples with ids first..last-1, whose values stand at slot id - base."""
        block = comparable(values[first - base : last - base])
        order = np.argsort(block, kind="stable")
        run = self._new_run(order + first, first, values.dtype)
        self.ranked[run] = block[order]
        self._merge_small_runs()

    def _new_run(self, ids: Runs, first: int, dtype: np.dtype) -> slice:
        """A run behind the others, with these ids, the smallest of them ``first``; its values are not yet there."""
        self._make_room(len(ids), dtype)
        start = int(self.runs[-1])
        self.ids[start : start + len(ids)] = ids
        self.runs = np.append(self.runs, start + len(ids))
        self._firsts.append(first)
        self._end = first + len(ids)
        return slice(start, start + len(ids))

    def _merge_small_runs(self) -> None:
        while len(self.runs) > 2 and self._size(-2) < 2 * self._size(-1) and self._may_merge():
            self._merge_last_two()

    def _may_merge(self) -> bool:
        return self.largest is None or self._size(-2) + self._size(-1) <= self.largest

    def between(self, clock: npt.NDArray[np.int64], base: int, tail: int, slack: int, low: int, high: int) -> Runs:
        """The runs that can hold tuples of these times; ``clock`` is the largest time up to each slot."""
        if self.largest is None or len(self.runs) < 3:
            return self.runs
        newest = clock[np.maximum(np.array([*self._firsts[1:], self._end]) - 1, tail) - base]
        oldest = clock[np.maximum(np.array(self._firsts), tail) - base] - slack
        first = int(np.searchsorted(newest, low))
        last = int(np.searchsorted(oldest, high, side="right"))
        return self.runs[first : max(last, first) + 1]

    def expire(self, tail: int, live: int) -> None:
        """Forget tuples before ``tail`` once they are most of the index."""
        if int(self.runs[-1]) > 2 * live + 1024:
            kept = self.ids[: self.runs[-1]] >= tail
            sizes = np.add.reduceat(kept, self.runs[:-1]) if len(self.runs) > 1 else np.empty(0, np.int64)
            self._firsts = [max(first, tail) for first, size in zip(self._firsts, sizes, strict=True) if size]
            sizes = sizes[sizes > 0]
            self._keep(kept)
            self.runs = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self.ranked, self.ids = self.ranked[: len(kept)][kept], self.ids[: len(kept)][kept]

    def _size(self, run: int) -> int:
        return int(self.runs[run] - self.runs[run - 1])

    def _make_room(self, more: int, dtype: np.dtype) -> None:
        used = int(self.runs[-1])
        if used + more > len(self.ranked) or self.ranked.dtype != dtype:
            capacity = (used + more) * 3 // 2
            ranked, ids = np.empty(capacity, dtype), np.empty(capacity, np.int64)
            ranked[:used], ids[:used] = self.ranked[:used], self.ids[:used]
            self.ranked, self.ids = ranked, ids

    def _merge_last_two(self) -> None:
        first, middle, last = (int(end) for end in self.runs[-3:])
        self._merge(first, middle, last)
        self.runs = np.delete(self.runs, -2)
        del self._firsts[-1]

    def _merge(self, first: int, middle: int, last: int) -> None:
        ranked, ids = np.empty(last - first, self.ranked.dtype), np.empty(last - first, np.int64)
        merge_runs(self.ranked, self.ids, first, middle, last, ranked, ids)
        self.ranked[first:last], self.ids[first:last] = ranked, ids


def comparable(block: Values) -> Values:
    """Numbers that can be put in order: NaN stands behind the rest; such a tuple never matches."""
    if block.dtype == np.float64 and np.isnan(block).any():
        return np.where(np.isnan(block), np.inf, block)
    return block
