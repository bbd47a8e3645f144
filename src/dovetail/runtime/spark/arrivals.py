"""What one batch brings to one bucket: rows of each stream, and how far every stream has come."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dovetail.engine.admit.horizon import Span
from dovetail.runtime.spark.blob import owned
from dovetail.runtime.spark.packed import CHANGE
from dovetail.runtime.spark.time_pieces import Parcel, time_pieces

Counts = npt.NDArray[np.int64]
Blocks = dict[str, pa.RecordBatch]

TOTALS = ("rows", "null_times", "filtered")


@dataclass(frozen=True)
class Arrivals:
    """Rows in order of arrival, heartbeats, the packers' totals (those that ride with this bucket), and the time.

    The time is that of the batch, in microseconds, for queries that look at the clock. ``spans`` are all times of each
    stream, whatever their bucket, where rows may lie too far ahead. ``queries``: a set to go on with. ``joined``: how
    many rows were read so far.
    """

    parcels: dict[str, list[Parcel]] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    totals: dict[str, dict[str, int]] = field(default_factory=dict)
    now: int | None = None
    spans: dict[str, list[Span]] = field(default_factory=dict)
    queries: str | None = None
    loads: Counts | None = None
    joined: dict[str, int] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """Whether no stream sent anything: the clock has ticked, and that is all."""
        return not self.totals and self.queries is None

    @property
    def bytes(self) -> int:
        """About how much memory the rows take."""
        return sum(parcel.bytes for parcels in self.parcels.values() for parcel in parcels)

    def blocks(self) -> Blocks:
        """All rows of each stream that has any."""
        read = {name: [b for parcel in parcels for b in parcel.read()] for name, parcels in self.parcels.items()}
        return self._counted({name: owned(batches) for name, batches in read.items() if batches})

    def pieces(self, times: Mapping[str, str], size: int) -> Iterator[Blocks]:
        """The same in pieces of about so many bytes, one after the other by the ``times`` of the streams."""
        return map(self._counted, time_pieces(self.parcels, times, size))

    def _counted(self, blocks: Blocks) -> Blocks:
        for name, block in blocks.items():
            self.joined[name] = self.joined.get(name, 0) + block.num_rows
        return blocks


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
    if times:
        arrivals.newest[name] = max(times)
    arrivals.spans[name] = [
        (smallest, largest)
        for row in packed
        if row.spans is not None
        for smallest, largest in np.frombuffer(row.spans, np.int64).reshape(-1, 2).tolist()
    ]
    found = ((row.blob, row.file if isinstance(row.file, str) else None) for row in packed)
    arrivals.parcels[name] = [Parcel(columns, *each) for each in found if each != (None, None)]
    if packed:
        arrivals.totals[name] = {total: int(sum(getattr(row, total) for row in packed)) for total in TOTALS}
