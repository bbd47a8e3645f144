"""The groups of an aggregation with their running aggregates; nothing in it is state, all can be made from rows."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa

from dovetail.engine.deliver.sliding.changes import Changes, Integers
from dovetail.engine.deliver.sliding.counts import Counting, CountingBefore, CountingDistinct
from dovetail.engine.deliver.sliding.exact_sum import Averaging, SummingDoubles, SummingWhole
from dovetail.engine.deliver.sliding.extreme import Extreme
from dovetail.engine.deliver.sliding.numbering import Numbering
from dovetail.model.aggregate import UNTIL, Aggregate, Aggregation


class Accumulator(Protocol):
    """One running aggregate of every group; ``size`` counts what it keeps, of use or not."""

    @property
    def size(self) -> int: ...

    def after(self, changes: Changes, argument: pa.Array | None, groups: int) -> pa.Array:
        """Take in the changes; the value of each run's group after it."""


def accumulator(aggregate: Aggregate, joined: pa.Schema) -> Accumulator:
    """What keeps an aggregate up to date."""
    if aggregate.function == "before":
        return CountingBefore()
    type_ = None if aggregate.argument is None else joined.field(aggregate.argument).type
    if type_ is None or (aggregate.function == "count" and not aggregate.distinct):
        return Counting()
    if aggregate.function == "count":
        return CountingDistinct(type_)
    if aggregate.function in ("min", "max"):
        return Extreme(type_, aggregate.function == "max")
    if pa.types.is_integer(type_) and aggregate.function == "avg":
        return Averaging()
    if pa.types.is_floating(type_) or aggregate.function == "avg":
        return SummingDoubles(aggregate.function == "avg")
    return SummingWhole(aggregate.type)


class Groups:
    """Every group that has been seen since these were made."""

    def __init__(self, aggregation: Aggregation, joined: pa.Schema) -> None:
        self._aggregation = aggregation
        self._keys = [Numbering(joined.field(key).type) for key in aggregation.keys]
        self._accumulators = [accumulator(each, joined) for each in aggregation.aggregates]

    @property
    def size(self) -> int:
        """The largest number of things kept by any part."""
        return max((part.count for part in self._keys), default=0) + max(each.size for each in self._accumulators)

    def apply(self, rows: pa.RecordBatch, moments: Integers, weights: Integers) -> tuple[Changes, dict[str, pa.Array]]:
        """Rows that come and go; the runs they make, and the keys and aggregates of each run."""
        numbers = self._numbers(rows)
        until = np.array(rows.column(UNTIL))
        changes = Changes.of(moments, numbers, weights, until)
        return changes, dict(self._columns(rows, changes))

    def _numbers(self, rows: pa.RecordBatch) -> Integers:
        numbers = np.zeros(rows.num_rows, np.int64)
        for key, numbering in zip(self._aggregation.keys, self._keys, strict=True):
            numbers = numbering.numbers(numbers, rows.column(key))
        return numbers

    def _columns(self, rows: pa.RecordBatch, changes: Changes) -> Iterator[tuple[str, pa.Array]]:
        firsts = pa.array(changes.firsts)
        for key in self._aggregation.keys:
            yield key, rows.column(key).take(firsts)
        groups = self._keys[-1].count if self._keys else 1
        for aggregate, held in zip(self._aggregation.aggregates, self._accumulators, strict=True):
            argument = None if aggregate.argument is None else changes.values(rows.column(aggregate.argument))
            yield aggregate.name, held.after(changes, argument, groups)
