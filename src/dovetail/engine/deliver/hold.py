"""The hold: results wait here until no older one can follow (Filter-Order), then leave in order.

Without an order they pass at once. Semi rows always wait here, for their time to be certain.
Results wait as ids (``Fresh``) until they leave or until they must become rows, in the pile: because a
window is about to move the tuples they name, or because the state is written.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.block.arrow_values import values_of
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.buffer.section import Section
from dovetail.engine.combine.partial import Partial
from dovetail.engine.deliver.fresh import Fresh
from dovetail.engine.deliver.project import Projection
from dovetail.model.query import JoinQuery


class Hold:
    """The last stage before results leave the engine; the ``projection`` makes rows of them.

    Their ``names`` may be others than when they were stored. ``label``: see ``Exit``.
    """

    def __init__(
        self, query: JoinQuery, projection: Projection, names: Sequence[str] | None = None, label: str = ""
    ) -> None:
        self._projection = projection
        self._fresh = Fresh()
        self._ordered = query.order != "none"
        self._may_be_late = query.late == "keep"
        self.pile = Pile(f"held{label}", result_times, BEFORE_ALL, names)
        self.results = 0
        self.out_of_order = 0
        self.latest_alone = BEFORE_ALL  # the largest result time of a row that came out without a partner

    def sections(self) -> list[Section]:
        """Its part of the state."""
        return [self.pile]

    @property
    def floor(self) -> int:
        """Nothing older than this may still come out."""
        return self.pile.limit

    def __bool__(self) -> bool:
        return bool(self._fresh) or bool(self.pile)

    def __len__(self) -> int:
        return len(self._fresh) + len(self.pile)

    @property
    def nbytes(self) -> int:
        return self._fresh.nbytes + self.pile.nbytes

    def add(self, results: Partial) -> Iterator[pa.RecordBatch]:
        """Results that were just made."""
        if self._ordered:
            self._fresh.add(results)
            return iter(())
        return self.give_all(self._projection.rows(results))

    def give_all(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows that were just made, in several batches."""
        for rows in batches:
            yield from self.give(rows)

    def oldest(self, stream: str, default: int) -> int:
        """The smallest id of a stream's tuples that it will still ask for."""
        return self._fresh.oldest(stream, default)

    def materialise(self) -> None:
        """Make rows of all that still waits as ids."""
        self._keep(self._fresh.all())

    def _keep(self, results: Partial | None) -> None:
        for rows in self._projection.rows(results) if results is not None else ():
            self.keep(rows)

    def take_over(self, other: "Hold") -> None:
        """Hold what another holds as rows, and nothing else."""
        self._fresh = Fresh()
        self.pile.take_over(other.pile)
        self.results, self.out_of_order, self.latest_alone = other.results, other.out_of_order, other.latest_alone

    def give(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows that were just made."""
        if self._ordered:
            self.keep(rows)
        else:
            self.results += rows.num_rows
            yield rows

    def give_alone(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows without a partner; unlike a match, they may be later than all input."""
        self.latest_alone = max(self.latest_alone, int(result_times(rows).max()))
        yield from self.give(rows)

    def keep(self, rows: pa.RecordBatch) -> None:
        """Rows that wait for their time, order or not."""
        if self._may_be_late and self._ordered:
            fits = result_times(rows) >= self._floors(rows)
            self.out_of_order += int((~fits).sum())
            rows = rows.filter(pa.array(fits))
        self.pile.add(rows)

    def _floors(self, rows: pa.RecordBatch) -> npt.NDArray[np.int64] | int:
        """Below which time each row may no longer come out."""
        return self.floor

    def in_order(self, results: Partial) -> Partial:
        """Without results older than what has left already."""
        return results.where(results.newest >= self.floor) if self._ordered else results

    def release(self, limit: int) -> Iterator[pa.RecordBatch]:
        """Rows up to this time: nothing older can follow."""
        limit = max(limit, self.pile.limit)
        if limit < self._fresh.earliest and limit < self.pile.earliest(AFTER_ALL):
            self.pile.limit = limit
            return
        due = self._fresh.due(limit)
        if due is not None and self.pile.earliest(AFTER_ALL) > limit:
            self.pile.limit = limit  # nothing to merge them with
            for rows in self._projection.rows(due):
                self.results += rows.num_rows
                yield rows
            return
        self._keep(due)
        rows = self.pile.release(limit)
        if rows is not None:
            self.results += rows.num_rows
            yield rows


def result_times(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The first column of every result, in microseconds."""
    return values_of(rows.column(0)).view(np.int64)
