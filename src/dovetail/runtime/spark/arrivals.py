"""What one batch brings to one bucket: a block per stream, and how far every stream has come."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dovetail.engine.admit.horizon import Span
from dovetail.runtime.spark.blob import from_blob, owned
from dovetail.runtime.spark.left_files import mapped
from dovetail.runtime.spark.packed import CHANGE

Counts = npt.NDArray[np.int64]

TOTALS = ("rows", "null_times", "filtered")


@dataclass(frozen=True)
class Arrivals:
    """Blocks in order of arrival, heartbeats, the packers' totals (those that ride with this bucket), and the time.

    The time is that of the batch, in microseconds, for queries that look at the clock. ``spans`` are all times of each
    stream, whatever their bucket, where rows may lie too far ahead. ``queries``: a set to go on with.
    """

    blocks: dict[str, pa.RecordBatch] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    totals: dict[str, dict[str, int]] = field(default_factory=dict)
    now: int | None = None
    spans: dict[str, list[Span]] = field(default_factory=dict)
    queries: str | None = None
    loads: Counts | None = None

    @property
    def nothing(self) -> bool:
        """Whether no stream sent anything: the clock has ticked, and that is all."""
        return not self.totals and self.queries is None


def read_arrivals(frames: Iterable[pd.DataFrame], columns: Mapping[str, tuple[str, ...]]) -> Arrivals:
    """Put packed rows, which come in any order, back into order: source partition, then sequence.

    ``columns`` are those of the blobs of each stream, in the order of the query.
    """
    packed = [row for frame in frames for row in frame.itertuples(index=False)]
    packed.sort(key=lambda row: (row.partition, row.sequence))
    sets = [row for row in packed if row.stream == CHANGE]
    newest = bytes(max(sets, key=lambda row: row.sequence).blob).decode() if sets else None
    told = [np.frombuffer(row.loads, np.int64) for row in packed if row.loads is not None]
    now = int(packed[0].now) if packed and hasattr(packed[0], "now") else None
    arrivals = Arrivals(now=now, queries=newest, loads=np.sum(told, axis=0) if told else None)
    for position, (name, stored) in enumerate(columns.items()):
        own = [row for row in packed if row.stream == position]
        _read_stream(arrivals, name, own, stored)
    return arrivals


def _read_stream(arrivals: Arrivals, name: str, packed: list[Any], columns: tuple[str, ...]) -> None:
    times = [int(row.newest) for row in packed if not pd.isna(row.newest)]
    batches = [batch for row in packed for batch in _rows_of(row, columns)]
    if times:
        arrivals.newest[name] = max(times)
    arrivals.spans[name] = [
        (smallest, largest)
        for row in packed
        if row.spans is not None
        for smallest, largest in np.frombuffer(row.spans, np.int64).reshape(-1, 2).tolist()
    ]
    if batches:
        arrivals.blocks[name] = owned(batches)
    if packed:
        arrivals.totals[name] = {total: int(sum(getattr(row, total) for row in packed)) for total in TOTALS}


def _rows_of(packed: Any, columns: tuple[str, ...]) -> list[pa.RecordBatch]:
    if isinstance(packed.file, str):
        return mapped(packed.file, columns)
    return [] if packed.blob is None else from_blob(packed.blob, columns)
