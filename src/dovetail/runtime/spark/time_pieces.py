"""The rows of a large batch in pieces of time, so that a worker has only some of them in memory.

    A   12:00 .. 12:04 | 12:04 .. 12:09      a piece: of all streams the rows up to some time that none had before
    B   12:01 .. 12:04 | 12:04 .. 12:08

What is joined piece by piece gives what it gives at once: later pieces have later rows, so no row is late that would
not have been, and nothing is forgotten that a later piece could reach. Parcels are opened when their time has come, and
forgotten when nothing of them is left.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.admit.conform import times_us
from dovetail.runtime.spark.blob import from_blob, owned
from dovetail.runtime.spark.left_files import mapped

Times = npt.NDArray[np.int64]
_EVERY = 64  # of so many times one is looked at to find where pieces end


@dataclass(frozen=True)
class Parcel:
    """Rows of a stream as a packer has sent them: in a blob, or in a file that it left."""

    columns: tuple[str, ...]
    blob: Any
    file: str | None

    @property
    def bytes(self) -> int:
        return len(self.blob) if self.file is None else os.path.getsize(self.file)

    def read(self) -> list[pa.RecordBatch]:
        """The rows, not copied."""
        return from_blob(self.blob, self.columns) if self.file is None else mapped(self.file, self.columns)


@dataclass(frozen=True)
class _Opened:
    """A parcel that was looked into: between which times its rows lie."""

    parcel: Parcel
    first: int
    last: int


def time_pieces(
    parcels: dict[str, list[Parcel]], times: Mapping[str, str], size: int
) -> Iterator[dict[str, pa.RecordBatch]]:
    """All rows, in pieces of about so many bytes; ``parcels`` is empty afterwards."""
    total = sum(parcel.bytes for own in parcels.values() for parcel in own)
    waiting, samples = _looked_into(parcels, times)
    after = np.iinfo(np.int64).min
    for until in _ends(samples, -(-total // size)):
        piece = {}
        for name, opened in waiting.items():
            due = [each for each in opened if each.first <= until]
            rows = [batch for each in due for batch in _between(each, times[name], after, until)]
            waiting[name] = [each for each in opened if each.last > until]
            if rows:
                piece[name] = owned(rows)
        if piece:
            yield piece
        after = until


def _looked_into(
    parcels: dict[str, list[Parcel]], times: Mapping[str, str]
) -> tuple[dict[str, list[_Opened]], list[Times]]:
    """What is known of each parcel, and some of all times."""
    waiting: dict[str, list[_Opened]] = {}
    samples = []
    for name in list(parcels):
        waiting[name] = []
        for parcel in parcels.pop(name):
            clocks = [times_us(batch.column(times[name])) for batch in parcel.read() if batch.num_rows]
            if clocks:
                first, last = min(int(each.min()) for each in clocks), max(int(each.max()) for each in clocks)
                waiting[name].append(_Opened(parcel, first, last))
                samples += [each[::_EVERY].copy() for each in clocks]
    return waiting, samples


def _ends(samples: list[Times], count: int) -> list[int]:
    """The times up to which each piece goes, about as many rows in each; all are in the last."""
    some = np.sort(np.concatenate(samples)) if samples else np.empty(0, np.int64)
    places = np.arange(1, count) * len(some) // count
    return [*np.unique(some[places]).tolist(), np.iinfo(np.int64).max]


def _between(opened: _Opened, time: str, after: int, until: int) -> Iterator[pa.RecordBatch]:
    """The rows of a parcel in one piece."""
    for batch in opened.parcel.read():
        if after < opened.first and opened.last <= until:
            yield batch
            continue
        clock = times_us(batch.column(time))
        yield batch.filter(pa.array((clock > after) & (clock <= until)))
