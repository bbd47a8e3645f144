"""From complete results as tuple ids to rows of the output: payload is gathered here, once.

Equalities whose codes are hashes are verified on the values first, over columns that the output
mostly needs anyway. A piece of results with long strings or lists leaves in several parts, so that
memory stays bounded and each part fits into one Arrow array.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import holds
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.evaluate import compile_expression
from dovetail.model.expression import Call, Column, columns_of
from dovetail.plan.physical import Plan

_MOST_BYTES = 1 << 26


class Projection:
    """The exit of one query."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window]) -> None:
        self._windows = windows
        self._schema = plan.query.joined
        self._verify = [Call("eq", (e.left, e.right), pa.bool_()) for e in plan.verify]
        expressions = [output.expression for output in plan.query.select]
        self._used = list(dict.fromkeys(column for expression in expressions for column in columns_of(expression)))
        self._select = [
            (expression.stream, expression.name) if isinstance(expression, Column) else compile_expression(expression)
            for expression in expressions
        ]

    def verified(self, results: Partial) -> Partial:
        """Without pairs whose keys share a hash and are not equal."""
        for equality in self._verify:
            results = results.where(holds(equality, self._windows, results))
        return results

    def rows(self, results: Partial) -> Iterator[pa.RecordBatch]:
        """Complete results as rows of the query's schema."""
        yield from self._rows(results.ids, results.newest)

    def alone(self, stream: str, ids: Ids, times: Ids) -> Iterator[pa.RecordBatch]:
        """Tuples of one stream as rows with the given result times, the columns of the other NULL."""
        if len(ids):
            yield from self._rows({stream: ids}, times)

    def _rows(self, ids: Mapping[str, Ids], times: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        if len(times) > 1 and self._bytes(ids) > _MOST_BYTES:
            half = len(times) // 2
            for part in (slice(0, half), slice(half, None)):
                yield from self._rows({name: some[part] for name, some in ids.items()}, times[part])
            return
        columns = dict(self._gather(ids, len(times)))
        arrays = [columns[e] if isinstance(e, tuple) else e(columns, len(times)) for e in self._select]
        stamp = self._schema.field(0).type
        first = pa.Array.from_buffers(stamp, len(times), [None, pa.py_buffer(np.ascontiguousarray(times))], 0)
        yield pa.RecordBatch.from_arrays([first, *arrays], schema=self._schema)

    def _gather(self, ids: Mapping[str, Ids], length: int) -> Iterable[tuple[tuple[str, str], pa.Array]]:
        for column in self._used:
            if column.stream in ids:
                values = self._windows[column.stream].take(column.name, ids[column.stream])
            else:
                values = pa.nulls(length, column.type)
            yield (column.stream, column.name), values

    def _bytes(self, ids: Mapping[str, Ids]) -> int:
        windows = self._windows
        return sum(windows[c.stream].bytes_of(c.name, ids[c.stream]) for c in self._used if c.stream in ids)
