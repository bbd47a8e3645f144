"""Rows of several queries as one batch: every column that some query selects, NULL in the rows of the others.

    q1 selects A.k AS k, A.v AS x           result_time  query   k   x   w
    q2 selects A.k AS k, B.v AS w                     9      1   7  40   -
                                                      9      2   7   -  80

A column is computed once for all queries that select it by the same expression.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import values
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.model.expression import Expression, columns_of
from dovetail.model.query import JoinQuery
from dovetail.plan.share_queries import needs_desk

_MOST_BYTES = 1 << 26  # 64 MB: a result of one block can have any size, its pieces not


class WideRows:
    """The select lists of some queries; ``schema`` is result time, number of the query, then all columns."""

    def __init__(self, queries: Sequence[JoinQuery], schema: pa.Schema, windows: Mapping[str, Window]) -> None:
        self._windows = windows
        self.schema = schema
        self._columns = [_sources(queries, name) for name in schema.names[2:]]
        expressions = [expression for sources in self._columns for expression, _ in sources]
        self._used = list(dict.fromkeys(column for each in expressions for column in columns_of(each)))

    def batches(self, results: Partial, queries: Ids, numbers: Ids) -> Iterator[pa.RecordBatch]:
        """One row per result and query: the query's place among those given, and the number it goes by."""
        if len(results) > 1 and self._bytes(results) > _MOST_BYTES:
            half = len(results) // 2
            for part in (slice(0, half), slice(half, None)):
                yield from self.batches(results.at(part), queries[part], numbers[part])
            return
        times = pa.array(results.newest, pa.int64()).cast(self.schema.field(0).type)
        arrays = [self._column(sources, results, queries, at) for at, sources in enumerate(self._columns, 2)]
        yield pa.RecordBatch.from_arrays([times, pa.array(numbers, pa.int32()), *arrays], schema=self.schema)

    def _column(self, sources: "_Sources", results: Partial, queries: Ids, at: int) -> pa.Array:
        parts, places = [], np.full(len(queries), -1, np.int64)
        filled = 0
        for expression, selecting in sources:
            rows = np.flatnonzero(selecting[queries])
            if len(rows) == len(queries):
                return values(expression, self._windows, results)
            if len(rows):
                parts.append(values(expression, self._windows, results.at(rows)))
                places[rows] = filled + np.arange(len(rows))
                filled += len(rows)
        if not parts:
            return pa.nulls(len(queries), self.schema.field(at).type)
        return pa.concat_arrays(parts).take(pa.array(places, mask=places < 0))

    def _bytes(self, results: Partial) -> int:
        return sum(
            self._windows[column.stream].bytes_of(column.name, results.ids[column.stream]) for column in self._used
        )


_Sources = list[tuple[Expression, npt.NDArray[np.bool_]]]


def _sources(queries: Sequence[JoinQuery], name: str) -> _Sources:
    """The expressions under a column's name, each with which of the queries select it."""
    selecting: dict[Expression, list[bool]] = {}
    for at, query in enumerate(queries):
        for output in () if needs_desk(query) else query.select:
            if output.name == name:
                selecting.setdefault(output.expression, [False] * len(queries))[at] = True
    return [(expression, np.array(queries)) for expression, queries in selecting.items()]
