"""The hold: results wait here until no older one can follow (Filter-Order), then leave in order.

Without an order they pass at once. Semi rows always wait here, for their time to be certain.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.watermarks import BEFORE_ALL
from dovetail.engine.buffer.columns import values_of
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.slices import Section
from dovetail.engine.combine.partial import Partial
from dovetail.model.query import JoinQuery


class Hold:
    """The last stage before results leave the engine."""

    def __init__(self, query: JoinQuery) -> None:
        self._ordered = query.order != "none"
        self._may_be_late = query.late == "keep"
        self.pile = Pile("held", result_times, BEFORE_ALL)
        self.results = 0
        self.out_of_order = 0

    def sections(self) -> list[Section]:
        """Its part of the state."""
        return [self.pile]

    @property
    def floor(self) -> int:
        """Nothing older than this may still come out."""
        return self.pile.limit

    def give(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows that were just made."""
        if self._ordered:
            self.keep(rows)
        else:
            self.results += rows.num_rows
            yield rows

    def keep(self, rows: pa.RecordBatch) -> None:
        """Rows that wait for their time, order or not."""
        if self._may_be_late and self._ordered:
            fits = result_times(rows) >= self.floor
            self.out_of_order += int((~fits).sum())
            rows = rows.filter(pa.array(fits))
        self.pile.add(rows)

    def in_order(self, results: Partial) -> Partial:
        """Without results older than what has left already."""
        return results.where(results.newest >= self.floor) if self._ordered else results

    def release(self, limit: int) -> Iterator[pa.RecordBatch]:
        """Rows up to this time: nothing older can follow."""
        rows = self.pile.release(max(limit, self.pile.limit))
        if rows is not None:
            self.results += rows.num_rows
            yield rows


def result_times(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The first column of every result, in microseconds."""
    return values_of(rows.column(0)).view(np.int64)
