"""Which queries a result belongs to: every query is a box, every result a point.

A coordinate is a number per result that some queries ask something of, as its place among all that is asked:

    age of member A     windows of 1 s, 60 s         0: within 1 s    1: within 60 s
    A.v                 A.v > 10, A.v <= 20          0: below 10   1: 10   2: between   3: 20   4: above;  -1: NULL, NaN
    other conditions    A.s LIKE 'x%'                0: no   1: yes

So a query with a window of 1 s and A.v > 10 is the box ``age <= 0 and value >= 2``. A coordinate costs one pass over
the results however many queries use it; queries then cost one comparison or two per result, in a compiled loop.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.block.arrow_values import true_rows, values_of
from dovetail.engine.combine.partial import Ids
from dovetail.engine.kernels.routing import count_inside, list_inside
from dovetail.model.expression import Call, Expression, Literal

Places = npt.NDArray[np.int32]
_FARTHEST = (1 << 31) - 1  # ranges are 32-bit numbers
_MOST = 1 << 22  # tests of one pass: four megabytes of answers
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


@dataclass(frozen=True)
class Range:
    """What one query asks of one coordinate."""

    coordinate: int
    low: int
    high: int


@dataclass(frozen=True)
class Comparison:
    """A condition that compares an expression with a constant number."""

    operand: Expression
    function: str
    bound: int | float

    def range(self, bounds: Sequence[int | float]) -> tuple[int, int]:
        """The places that satisfy it: 2k is just below the k-th bound, 2k + 1 is at it."""
        at = 2 * bounds.index(self.bound) + 1
        ranges = {"lt": (0, at - 1), "le": (0, at), "eq": (at, at), "ge": (at, _FARTHEST), "gt": (at + 1, _FARTHEST)}
        return ranges[self.function]


def comparison(condition: Expression) -> Comparison | None:
    """The condition as a comparison with a constant; None if it is something else."""
    if not isinstance(condition, Call) or condition.function not in _FLIPPED:
        return None
    left, right = condition.arguments
    function = condition.function
    if isinstance(left, Literal):
        left, right, function = right, left, _FLIPPED[function]
    plain = isinstance(right, Literal) and not isinstance(left, Literal) and left.type == right.type
    if not plain or left.type not in (pa.int64(), pa.float64()):
        return None
    assert isinstance(right, Literal)
    known = right.value is not None and right.value == right.value
    return Comparison(left, function, right.value) if known else None


def places_among(values: pa.Array, bounds: Sequence[int | float]) -> Places:
    """The place of each value among sorted bounds; -1 for NULL and NaN."""
    numbers = values_of(values)
    among = np.asarray(bounds, numbers.dtype)
    places = (np.searchsorted(among, numbers) + np.searchsorted(among, numbers, side="right")).astype(np.int32)
    if numbers.dtype == np.float64:
        places[np.isnan(numbers)] = -1
    if values.null_count:
        places[~pc.is_valid(values).to_numpy(zero_copy_only=False)] = -1
    return places


def ages_among(ages: Ids, limits: Sequence[int]) -> Places:
    """Which of the sorted limits is the first that an age does not pass."""
    return np.searchsorted(np.asarray(limits, np.int64), ages).astype(np.int32)


def flags(condition: pa.Array) -> Places:
    """1 where a condition is true."""
    return true_rows(condition).astype(np.int32)


@dataclass
class Boxes:
    """Coordinates, and the ranges of each query on them; a query without any takes every result."""

    readers: list[Callable[[Any], Places]] = field(default_factory=list)
    ranges: list[list[Range]] = field(default_factory=list)

    def coordinate(self, reader: Callable[[Any], Places]) -> int:
        """One more coordinate; returns its number."""
        self.readers.append(reader)
        return len(self.readers) - 1

    def close(self) -> None:
        """All queries are there: lay their ranges out for the loops."""
        every = [each for box in self.ranges for each in box]
        self._starts = np.cumsum([0, *map(len, self.ranges)]).astype(np.int32)
        self._coordinates = np.array([each.coordinate for each in every], np.int32)
        self._lows = np.array([each.low for each in every], np.int32)
        self._highs = np.array([each.high for each in every], np.int32)

    @property
    def most(self) -> int:
        """How many results may be asked about at a time, so that the pairs found fit into bounded memory."""
        return max(1, _MOST // max(1, len(self.ranges)))

    def inside(self, results: Any, count: int) -> tuple[Ids, Ids]:
        """Pairs of a result and a query that it belongs to, result by result."""
        points = np.empty((len(self.readers), count), np.int32)
        for at, reader in enumerate(self.readers):
            points[at] = reader(results)
        boxes = points, self._starts, self._coordinates, self._lows, self._highs
        pairs = count_inside(*boxes)
        found, queries = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
        list_inside(*boxes, found, queries)
        return found, queries
