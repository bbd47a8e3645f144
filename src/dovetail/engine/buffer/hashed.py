"""A hash index over a window: one chain per bucket, newest tuple first.

    heads[bucket] -> id of the newest tuple;  nexts[slot] -> how many arrivals back the next one is

Inserting writes two numbers. Expiry costs nothing: a walk ends at the first id before the
window's tail, and a bucket's stale head is overwritten by the next insert.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.columns import moved
from dovetail.engine.kernels import cell_insert, hash_insert

_SMALLEST = 10  # bits: a table of 8 kB, which is quickly emptied


class HashIndex:
    """Chains over the codes of one key."""

    def __init__(self) -> None:
        self.heads = np.full(1 << _SMALLEST, -1, np.int64)
        self.shift = 64 - _SMALLEST
        self.nexts: npt.NDArray[np.int32] = np.empty(0, np.int32)

    @property
    def nbytes(self) -> int:
        return self.heads.nbytes + self.nexts.nbytes

    def insert(self, codes: npt.NDArray[Any], base: int, first: int, last: int) -> None:
        """Add the tuples with ids first..last-1, whose codes stand at slot id - base."""
        hash_insert(codes, self.heads, self.nexts, self.shift, base, first, last)

    def move(self, start: int, stop: int, capacity: int) -> None:
        self.nexts = moved(self.nexts, start, stop, capacity)

    def resize(self, codes: npt.NDArray[Any], base: int, tail: int, end: int) -> None:
        """As many buckets as there is room for tuples, within a factor of two; chains are made anew."""
        wanted = max(_SMALLEST, (len(self.nexts) * 2 // 3).bit_length())
        if 1 << wanted != len(self.heads):
            self.heads, self.shift = np.full(1 << wanted, -1, np.int64), 64 - wanted
            self.insert(codes, base, tail, end)

    def build(self, codes: npt.NDArray[Any], base: int, tail: int, end: int, capacity: int) -> None:
        """Chains over tuples that are stored already, with room for so many."""
        self.move(0, 0, capacity)
        self.heads = np.empty(0, np.int64)
        self.resize(codes, base, tail, end)


class CellIndex(HashIndex):
    """Chains over the cells of a number line: a band as wide as two cells reaches three of them.

    With cells of width 1 the value 4.7 lies in cell 4; a probe for 3.9 +- 1 walks the chains of cells 2, 3 and 4.
    """

    def __init__(self, width: float) -> None:
        super().__init__()
        self.per_unit = 1 / width

    def insert(self, codes: npt.NDArray[Any], base: int, first: int, last: int) -> None:
        """Add the tuples with ids first..last-1, whose values stand at slot id - base."""
        cell_insert(codes, self.per_unit, self.heads, self.nexts, self.shift, base, first, last)
