"""From complete results as tuple ids to rows of the output: payload is gathered here, once.

Equalities whose codes are hashes are verified on the values first, over columns that the output
mostly needs anyway. A piece of results with long strings or lists leaves in several parts, so that
memory stays bounded and each part fits into one Arrow array.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.buffer.columns import Column as Stored
from dovetail.engine.buffer.columns import FixedColumn
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import holds
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.evaluate import compile_expression
from dovetail.model.expression import Call, Column, columns_of
from dovetail.plan.physical import Plan

_MOST_BYTES = 1 << 26  # 64 MB: a result of one block can have any size, its pieces not


class Projection:
    """The exit of one query."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window]) -> None:
        self._windows = windows
        self.adopt(plan)

    def adopt(self, plan: Plan) -> None:
        """Read columns as another plan stores them."""
        windows = self._windows
        self._schema = plan.query.joined
        self._verify = [Call("eq", (e.left, e.right), pa.bool_()) for e in plan.verify]
        expressions = [output.expression for output in plan.query.select]
        self._stamp = self._schema.field(0).type
        self._used = {
            (column.stream, column.name): windows[column.stream].column(column.name)
            for expression in expressions
            for column in columns_of(expression)
        }
        fixed = [column.row_bytes for column in self._used.values() if isinstance(column, FixedColumn)]
        self._row_bytes = sum(fixed) if len(fixed) == len(self._used) else None
        self._select = [
            (expression.stream, expression.name) if isinstance(expression, Column) else compile_expression(expression)
            for expression in expressions
        ]

    def over(self, plan: Plan, windows: Mapping[str, Window]) -> "Projection":
        """The same over other windows."""
        return Projection(plan, windows)

    def verified(self, results: Partial) -> Partial:
        """Without pairs whose keys share a hash and are not equal."""
        for equality in self._verify:
            results = results.where(holds(equality, self._windows, results))
        return results

    def rows(self, results: Partial) -> Iterator[pa.RecordBatch]:
        """Complete results as rows of the query's schema."""
        return self._rows(results.ids, results.newest)

    def alone(self, stream: str, ids: Ids, times: Ids) -> Iterator[pa.RecordBatch]:
        """Tuples of one stream as rows with the given result times, the columns of the other NULL."""
        return self.part({stream: ids}, times)

    def part(self, members: Mapping[str, Ids], times: Ids) -> Iterator[pa.RecordBatch]:
        """Combinations of some streams as rows with the given result times, the columns of the others NULL."""
        if len(times):
            yield from self._rows(members, times)

    def _rows(self, ids: Mapping[str, Ids], times: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        slots = {name: some - self._windows[name].base for name, some in ids.items()}
        return self._gathered(slots, times)

    def _gathered(self, slots: Mapping[str, Ids], times: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        if len(times) > 1 and self._bytes(slots, len(times)) > _MOST_BYTES:
            half = len(times) // 2
            for part in (slice(0, half), slice(half, None)):
                yield from self._gathered({name: some[part] for name, some in slots.items()}, times[part])
            return
        columns = {key: self._values(key[0], column, slots, len(times)) for key, column in self._used.items()}
        arrays = [columns[e] if isinstance(e, tuple) else e(columns, len(times)) for e in self._select]
        first = pa.Array.from_buffers(self._stamp, len(times), [None, pa.py_buffer(np.ascontiguousarray(times))], 0)
        yield pa.RecordBatch.from_arrays([first, *arrays], schema=self._schema)

    def _values(self, stream: str, column: Stored, slots: Mapping[str, Ids], length: int) -> pa.Array:
        return column.take(slots[stream]) if stream in slots else pa.nulls(length, column.type)

    def _bytes(self, slots: Mapping[str, Ids], length: int) -> int:
        """About how many bytes would be gathered."""
        if self._row_bytes is not None:
            return length * self._row_bytes
        return sum(stored.bytes_at(slots[key[0]]) for key, stored in self._used.items() if key[0] in slots)
