"""The door of one stream: what comes in, what is late, what cannot match, in which order.

    rows -> NULL times out -> late rows out -> own filters -> in order of time -> numbers -> rows that can match

Each row that does not come in is counted, under the reason why.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.block import Block
from dovetail.engine.admit.conform import conform, times_us, without_null_times
from dovetail.engine.admit.derive import both, derive
from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import true_rows
from dovetail.engine.combine.kernels import inspect_times
from dovetail.engine.evaluate import evaluate
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream

Flags = npt.NDArray[np.bool_]


class Door:
    """Admission of one stream's rows."""

    def __init__(self, query: JoinQuery, stream: Stream, window: Window, diverted: Diverted) -> None:
        self._stream = stream
        self._late = query.late
        self._filters = [expression for name, expression in query.filters if name == stream.name]
        self._window = window
        self._diverted = diverted
        self.counts: Counter[str] = Counter()

    def admit(self, rows: pa.Table | pa.RecordBatch, watermark: int) -> tuple[Block | None, int | None]:
        """The block that comes in (None if nothing does) and the largest time seen (None if no time was)."""
        columns = conform(self._stream, rows, self._window.storage.columns)
        self.counts["rows"] += rows.num_rows
        columns = self._with_times(columns)
        times = times_us(columns[self._stream.time])
        if not len(times):
            return None, None
        smallest, largest, behind = inspect_times(times)
        if smallest < watermark:
            columns, times = self._late_out(columns, times, watermark)
        columns, times = self._filtered(columns, times)
        if behind:
            columns, times = _in_order(columns, times)
        block = self._block(columns, times)
        return (block if len(block) else None), largest

    def stored(self, rows: pa.RecordBatch) -> Block:
        """Rows that came in before, read back from a slice."""
        columns = conform(self._stream, rows, self._window.storage.columns)
        return self._block(columns, times_us(columns[self._stream.time]))

    def _with_times(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        if not columns[self._stream.time].null_count:
            return columns
        columns, lost = without_null_times(columns, self._stream.time)
        count = len(lost[self._stream.time])
        self.counts["null_time"] += count
        self._diverted.add(self._stream, lost, "no time", None)
        return columns

    def _late_out(
        self, columns: dict[str, pa.Array], times: npt.NDArray[np.int64], watermark: int
    ) -> tuple[dict[str, pa.Array], npt.NDArray[np.int64]]:
        late = times < watermark
        self.counts["late"] += int(late.sum())
        if self._late == "keep":
            return columns, times
        self._diverted.add(self._stream, _chosen(columns, late), "late", watermark - times[late])
        return _chosen(columns, ~late), times[~late]

    def _filtered(
        self, columns: dict[str, pa.Array], times: npt.NDArray[np.int64]
    ) -> tuple[dict[str, pa.Array], npt.NDArray[np.int64]]:
        keep: Flags | None = None
        for expression in self._filters:
            named = _named(self._stream.name, columns)
            keep = both(keep, true_rows(evaluate(expression, named, len(times))))
        if keep is None or keep.all():
            return columns, times
        self.counts["filtered"] += int((~keep).sum())
        return _chosen(columns, keep), times[keep]

    def _block(self, columns: dict[str, pa.Array], times: npt.NDArray[np.int64]) -> Block:
        named = _named(self._stream.name, columns)
        attributes, usable = {}, None
        for attribute in self._window.storage.attributes:
            values, valid = derive(attribute, named, len(times), self._window.vector_width(attribute))
            attributes[attribute] = values
            usable = both(usable, valid)
        if usable is None or usable.all():
            return Block(columns, times, attributes)
        self.counts["unmatchable"] += int((~usable).sum())
        kept = {attribute: values[usable] for attribute, values in attributes.items()}
        return Block(_chosen(columns, usable), times[usable], kept)


def _named(stream: str, columns: Mapping[str, pa.Array]) -> dict[tuple[str, str], pa.Array]:
    return {(stream, name): array for name, array in columns.items()}


def _chosen(columns: Mapping[str, pa.Array], keep: Flags) -> dict[str, pa.Array]:
    chosen = pa.array(keep)
    return {name: array.filter(chosen) for name, array in columns.items()}


def _in_order(
    columns: Mapping[str, pa.Array], times: npt.NDArray[np.int64]
) -> tuple[dict[str, pa.Array], npt.NDArray[np.int64]]:
    order = np.argsort(times, kind="stable")
    chosen = pa.array(order)
    return {name: array.take(chosen) for name, array in columns.items()}, times[order]
