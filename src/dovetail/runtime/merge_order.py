"""Results of several cells put into one order of result time."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Times = npt.NDArray[np.int64]

_PIECE, _STEP = 1 << 16, 1 << 12  # rows of a piece, which fits into a cache; how often one is looked at to cut them


def merged(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of batches in order of time, piece by piece; most batches are in order already.

    A piece is what lies between two times: Spark reads one while the next is gathered, and it fits into a cache.
    """
    batches = [batch if _in_order(_times(batch)) else _sorted(batch) for batch in batches]
    times = [_times(batch) for batch in batches]
    starts = [0] * len(batches)
    for until in _cuts(times):
        stops = [int(np.searchsorted(of, until, side="right")) for of in times]
        ranges = zip(batches, starts, stops, strict=True)
        parts = [batch.slice(start, stop - start) for batch, start, stop in ranges if stop > start]
        starts = stops
        if len(parts) > 1:
            yield _sorted(pa.concat_batches(parts))
        else:
            yield from parts


def _times(batch: pa.RecordBatch) -> Times:
    times: Times = batch.column("result_time").cast(pa.int64()).to_numpy()
    return times


def _in_order(times: Times) -> bool:
    return not (times[1:] < times[:-1]).any()


def _sorted(batch: pa.RecordBatch) -> pa.RecordBatch:
    """By a sort that merges what is in order already."""
    return batch.take(pa.array(np.argsort(_times(batch), kind="stable")))


def _cuts(times: Sequence[Times]) -> list[int]:
    """Times about every ``_PIECE`` rows; the last is that of the last row."""
    samples = np.sort(np.concatenate([np.empty(0, np.int64), *(of[::-_STEP] for of in times)]))
    some = _PIECE // _STEP
    return [int(time) for time in np.unique([*samples[some::some], *samples[-1:]])]
