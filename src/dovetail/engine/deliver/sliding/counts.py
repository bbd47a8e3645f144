"""COUNT and COUNT(DISTINCT): a number per group, and for distinct values a number of references per group and value."""

import numpy as np
import pyarrow as pa

from dovetail.engine.admit.derive import valid_rows
from dovetail.engine.deliver.sliding.changes import Changes, Integers, grown
from dovetail.engine.deliver.sliding.numbering import Numbering
from dovetail.engine.kernels.sliding import count_runs, distinct_weights


class Counting:
    """How many rows of each group count; of a column, how many that are not NULL."""

    def __init__(self) -> None:
        self._totals = np.zeros(0, np.int64)

    @property
    def size(self) -> int:
        return 0

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The count of each run's group after it."""
        return pa.array(self.counted(changes, present(changes.weights, argument), groups))

    def counted(self, changes: Changes, weights: Integers, groups: int) -> Integers:
        """The total weight of each run's group after it."""
        self._totals = grown(self._totals, groups)
        counted = np.empty(changes.runs, np.int64)
        count_runs(changes.groups, weights, changes.starts, self._totals, counted)
        return counted


class CountingBefore(Counting):
    """How many rows of each group counted just before a moment: 0 where the group appears."""

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The count of each run's group before it."""
        added = np.add.reduceat(changes.weights, changes.starts[:-1])
        return pa.array(self.counted(changes, changes.weights, groups) - added)


class CountingDistinct:
    """How many different values of a column count in each group."""

    def __init__(self, type_: pa.DataType) -> None:
        self._pairs = Numbering(type_)
        self._references = np.zeros(0, np.int64)
        self._counting = Counting()

    @property
    def size(self) -> int:
        return self._pairs.count

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """The number of different values in each run's group after it; NULL is no value."""
        assert argument is not None
        pairs = self._pairs.numbers(changes.groups, argument)
        self._references = grown(self._references, self._pairs.count)
        changed = np.zeros(len(pairs), np.int64)
        distinct_weights(pairs, present(changes.weights, argument), self._references, changed)
        return pa.array(self._counting.counted(changes, changed, groups))


def present(weights: Integers, argument: pa.Array | None) -> Integers:
    """The weights, 0 where the argument is NULL."""
    valid = None if argument is None else valid_rows(argument)
    return weights if valid is None else np.where(valid, weights, 0)
