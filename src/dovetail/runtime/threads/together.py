"""What the cells give for one call, drawn in parallel and a piece at a time, so that memory stays bounded.

without order   the pieces of all cells as they come
in order        what is not after the last row of any cell that has more to give: nothing older can follow
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.policies.stages import Rows
from dovetail.runtime.merge_order import merged
from dovetail.runtime.threads.pool import in_parallel

_PIECE_ROWS = 1 << 18  # results of a cell that wait for those of the others: more than most pushes give
_PIECE_BYTES = 64 << 20  # the same where rows are wide, so that an exploding join stays within some hundred megabytes

Batches = list[pa.RecordBatch]


class Share:
    """One cell's share of a call: its results are drawn by whichever thread has time for them."""

    def __init__(self, call: Callable[[], Rows]) -> None:
        self._call = call
        self._rows: Rows | None = None
        self.done = False

    def some(self) -> Batches:
        """The next results, all if they are not too many."""
        if self._rows is None:
            self._rows = self._call()
        drawn: Batches = []
        rows = size = 0
        for batch in self._rows:
            drawn.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= _PIECE_ROWS or size >= _PIECE_BYTES:
                return drawn
        self.done = True
        return drawn


def together(calls: Sequence[Callable[[], Rows]], ordered: bool) -> Rows:
    """The results of the same call to every cell; those of each cell are in order if ``ordered``."""
    shares = [Share(call) for call in calls]
    if ordered:
        yield from _in_order(shares)
    else:
        for drawn in _drawn(shares):
            yield from (batch for batches in drawn for batch in batches)


def _drawn(shares: Sequence[Share]) -> Iterator[list[Batches]]:
    """The next results of every cell, until all are done."""
    while not all(share.done for share in shares):
        left = [share for share in shares if not share.done]
        more = iter(in_parallel([share.some for share in left]))
        yield [next(more) if share in left else [] for share in shares]


def _in_order(shares: Sequence[Share]) -> Rows:
    waiting: list[Batches] = [[] for _ in shares]
    for drawn in _drawn(shares):
        waiting = [before + more for before, more in zip(waiting, drawn, strict=True)]
        more = [batches[-1] for share, batches in zip(shares, waiting, strict=True) if not share.done]
        last = [batch["result_time"][-1] for batch in more]
        until = min(last, key=lambda time: time.value) if last else None
        due, waiting = zip(*(_cut(batches, until) for batches in waiting), strict=True)
        yield from merged([batch for batches in due for batch in batches])


def _cut(batches: Batches, until: pa.Scalar | None) -> tuple[Batches, Batches]:
    """Rows that are not after a time, and those that are."""
    if until is None:
        return batches, []
    due: Batches = []
    later: Batches = []
    for batch in batches:
        stop = pc.sum(pc.less_equal(batch["result_time"], until)).as_py() or 0
        due += [batch.slice(0, stop)] if stop else []
        later += [batch.slice(stop)] if stop < batch.num_rows else []
    return due, later
