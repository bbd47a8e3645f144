"""From complete results as tuple ids to rows of the output: payload is gathered here, once.

Equalities whose codes are hashes are verified on the values first, over columns that the output
mostly needs anyway. A piece whose strings would not fit into one Arrow array is cut in two.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import true_rows
from dovetail.engine.combine.partial import Partial
from dovetail.engine.evaluate import evaluate
from dovetail.model.expression import Call, Column, Expression, columns_of
from dovetail.plan.physical import Plan

_MOST_BYTES = 1 << 30

Gathered = dict[tuple[str, str], pa.Array]


class Projection:
    """The exit of one query."""

    def __init__(self, plan: Plan, windows: Mapping[str, Window]) -> None:
        self._windows = windows
        self._schema = plan.query.schema
        self._select = [output.expression for output in plan.query.select]
        self._verify = [Call("eq", (e.left, e.right), pa.bool_()) for e in plan.verify]
        self._used = set(columns_of(Call("and", (*self._select, *self._verify), pa.bool_())))

    def rows(self, results: Partial) -> Iterator[pa.RecordBatch]:
        """The results as rows of the query's schema."""
        if self._text_bytes(results) > _MOST_BYTES and len(results) > 1:
            half = np.arange(len(results)) < len(results) // 2
            yield from self.rows(results.where(half))
            yield from self.rows(results.where(~half))
            return
        columns = self._gather(results, self._verify)
        for equality in self._verify:
            same = true_rows(evaluate(equality, columns, len(results)))
            if not same.all():
                results = results.where(same)
                columns = self._gather(results, self._verify)
        columns |= self._gather(results, self._select, columns)
        arrays = [self._column(expression, columns, len(results)) for expression in self._select]
        times = pa.array(results.newest, pa.int64()).view(self._schema.field(0).type)
        yield pa.RecordBatch.from_arrays([times, *arrays], schema=self._schema)

    def _gather(self, results: Partial, needed: list[Call] | list[Expression], known: Gathered | None = None) -> Gathered:
        wanted = {column for expression in needed for column in columns_of(expression)}
        return {
            (column.stream, column.name): self._windows[column.stream].take(column.name, results.ids[column.stream])
            for column in wanted
            if (column.stream, column.name) not in (known or {})
        }

    @staticmethod
    def _column(expression: Expression, columns: Gathered, length: int) -> pa.Array:
        if isinstance(expression, Column):
            return columns[expression.stream, expression.name]
        return evaluate(expression, columns, length)

    def _text_bytes(self, results: Partial) -> int:
        return max(
            (self._windows[c.stream].text_bytes(c.name, results.ids[c.stream]) for c in self._used), default=0
        )
