"""Values of any type become small numbers, equal values the same one, exactly.

    start 0, column ["a", "b", NULL, "a"]     ->   0 1 2 0
    start [0, 0, 1, 1], column [7, 7, 7, 8]   ->   0 0 1 2        pairs of a number and a value

Several columns are numbered one after the other. A value is looked up by its 64-bit code. Where that is a hash,
the value is compared with the one that the number was given for; where it is another, the next code is tried.
NULL is like NULL and NaN like NaN.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.admit.derive import key_codes, valid_rows
from dovetail.engine.deliver.sliding.changes import Integers, grown
from dovetail.engine.kernels.sliding import number_pairs, refill
from dovetail.plan.levels import is_exact

_SMALLEST = 256  # groups: one allocation for few of them


class Numbering:
    """The numbers of the values of one column, each beside a number that is known already."""

    def __init__(self, type_: pa.DataType) -> None:
        self._first = np.empty(0, np.int64)
        self._second = np.empty(0, np.int64)
        self._table = np.full(_SMALLEST, -1, np.int64)
        self._shown = None if is_exact(type_) else Shown(type_)
        self.count = 0

    def numbers(self, start: Integers, column: pa.Array) -> Integers:
        """One number per row."""
        first, codes = _codes(start, column)
        numbers, fresh = self._look_up(first, codes)
        if self._shown is None:
            return numbers
        self._shown.append(column.take(pa.array(fresh)))
        unlike = self._shown.unlike(numbers, column)
        while len(unlike):
            codes[unlike] += 1
            rows = column.take(pa.array(unlike))
            numbers[unlike], fresh = self._look_up(first[unlike], codes[unlike])
            self._shown.append(rows.take(pa.array(fresh)))
            unlike = unlike[self._shown.unlike(numbers[unlike], rows)]
        return numbers

    def _look_up(self, first: Integers, second: Integers) -> tuple[Integers, Integers]:
        room = self.count + len(first)
        self._first, self._second = grown(self._first, room), grown(self._second, room)
        if 2 * room > len(self._table):
            self._table = np.full(1 << (4 * room - 1).bit_length(), -1, np.int64)
            refill(self._first, self._second, self.count, self._table)
        numbers, fresh = np.empty(len(first), np.int64), np.empty(len(first), np.int64)
        known = self.count
        self.count = number_pairs(first, second, self._first, self._second, self._table, known, numbers, fresh)
        return numbers, fresh[: self.count - known]


def _codes(start: Integers, column: pa.Array) -> tuple[Integers, Integers]:
    codes, usable = key_codes(column)
    present = valid_rows(column)
    kind = np.zeros(len(column), np.int64)
    if present is not None:
        kind[~present] += 1
    if usable is not None:
        kind[~usable] += 1
    return start * 3 + kind, np.where(kind == 0, codes, 0)


class Shown:
    """The value that each number was given for, in chunks of falling size."""

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._chunks: list[pa.Array] = []

    def append(self, values: pa.Array) -> None:
        """The values of the next numbers."""
        if not len(values):
            return
        self._chunks.append(values)
        while len(self._chunks) > 1 and 2 * len(self._chunks[-1]) > len(self._chunks[-2]):
            last = self._chunks.pop()
            self._chunks[-1] = pa.concat_arrays([self._chunks[-1], last])

    def unlike(self, numbers: Integers, values: pa.Array) -> Integers:
        """The rows whose value is not the one their number was given for."""
        known = pa.chunked_array(self._chunks, self._type).take(pa.array(numbers)).combine_chunks()
        alike = pc.fill_null(pc.equal(known, values), True)
        return np.flatnonzero(~alike.to_numpy(zero_copy_only=False))
