"""The last stage of an aggregating query: results wait for their order, count for a while, and leave.

    held    results that are not certain yet, by result time         (as in any ordered query)
    live    results that count, by the last moment at which they do

``release(limit)``: nothing older than ``limit`` can still come, so all moments before it are certain. Results of such
moments come, those whose time is over go, and every moment at which something changed gives one row per group:

    release(11 s)   held: result at 5 s, until 9 s      comes at 5 s, goes at 9.000001 s: two rows

Both parts are state; the groups are made from ``live`` whenever there are none, or more of them is dead than alive.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.arrow_values import true_rows, values_of
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.section import Section
from dovetail.engine.deliver.hold import Hold, result_times
from dovetail.engine.deliver.project import Projection
from dovetail.engine.deliver.sliding.groups import Groups
from dovetail.engine.evaluate import compile_expression
from dovetail.model.aggregate import GROUP, UNTIL
from dovetail.model.query import JoinQuery

_SPARE = 4096  # rows that have left and are not yet tidied away; a copy is shared by many


class Sliding(Hold):
    """Order and aggregates in one."""

    def __init__(self, query: JoinQuery, projection: Projection, label: str = "") -> None:
        super().__init__(query, projection, label=label)
        assert query.aggregation is not None
        self._ordered = True
        self._aggregation, self._joined, self._schema = query.aggregation, query.joined, query.schema
        self.live = Live(label)
        self._groups: Groups | None = None
        self._allowed = _SPARE
        self._select = [compile_expression(output.expression) for output in query.aggregation.select]
        having = query.aggregation.having
        self._having = None if having is None else compile_expression(having)

    def sections(self) -> list[Section]:
        return [self.pile, self.live]

    def take_over(self, other: Hold) -> None:
        super().take_over(other)
        assert isinstance(other, Sliding), "the same query aggregates in every shape"
        self.live.take_over(other.live)
        self.live.foreign = True

    def give_alone(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows without a partner count at their time, also where a row beside them has left before."""
        at, times = rows.schema.get_field_index(UNTIL), result_times(rows)
        yield from super().give_alone(rows.set_column(at, UNTIL, pa.array(np.maximum(_until(rows), times))))

    @property
    def floor(self) -> int:
        return self.pile.limit + 1

    def release(self, limit: int) -> Iterator[pa.RecordBatch]:
        """Rows of every moment before the limit at which something changed."""
        limit = max(limit, self.floor)
        self._keep(self._fresh.due(limit - 1))
        come = self.pile.release(limit - 1)
        if come is None and self.live.earliest(limit) > limit - 2:
            return
        groups = self._current()
        if come is not None:
            self.live.add(come)
        rows = self._rows(groups, come, self.live.release(limit - 2))
        self.results += rows.num_rows
        yield rows

    def _current(self) -> Groups:
        """Groups that stand for what counts; made anew if they are another's, or more is dead in them than alive."""
        if self._groups and self._groups.size > self._allowed:
            self._allowed = 2 * len(self.live) + _SPARE
        if not self._groups or self.live.foreign or self._groups.size > self._allowed:
            self._groups = self._from_rows(list(self.live.state().values()))
            self.live.foreign = False
        return self._groups

    def _from_rows(self, parts: list[pa.RecordBatch]) -> Groups:
        groups = Groups(self._aggregation, self._joined)
        if parts:
            rows = pa.concat_batches(parts)
            groups.apply(rows, np.full(rows.num_rows, BEFORE_ALL), np.ones(rows.num_rows, np.int64))
        return groups

    def _rows(self, groups: Groups, come: pa.RecordBatch | None, gone: pa.RecordBatch | None) -> pa.RecordBatch:
        parts = [part for part in (come, gone) if part is not None]
        moments = [result_times(come)] if come is not None else []
        moments += [_until(gone) + 1] if gone is not None else []
        weights = np.ones(sum(part.num_rows for part in parts), np.int64)
        weights[0 if come is None else come.num_rows :] = -1
        changes, columns = groups.apply(pa.concat_batches(parts), np.concatenate(moments), weights)
        times = pa.array(changes.moments[changes.starts[:-1]]).cast(self._schema.field(0).type)
        named: dict[tuple[str, str], Any] = {(GROUP, name): values for name, values in columns.items()}
        values = [compute(named, changes.runs) for compute in self._select]
        rows = pa.RecordBatch.from_arrays([times, *values], schema=self._schema)
        return rows if self._having is None else rows.filter(pa.array(true_rows(self._having(named, changes.runs))))


class Live(Pile):
    """The results that count; ``foreign`` once another engine's have been taken over."""

    def __init__(self, label: str) -> None:
        super().__init__(f"live{label}", _until, BEFORE_ALL)
        self.foreign = False

    def restore(self, header: dict[str, Any]) -> None:
        super().restore(header)
        self.foreign = True


def _until(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    return values_of(rows.column(UNTIL))
