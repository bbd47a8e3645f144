"""Before the shuffle: a packer makes a few blobs out of millions of rows.

    rows of one source partition -> needed columns -> NULL times out -> own filter -> cells -> blobs of each cell

A packed row or more go to every cell, with or without a blob. They carry a heartbeat, the largest event time
among all rows seen, filtered ones too, so that each bucket knows every stream's watermark in the
very batch that raised it. Totals of the partition ride along with cell 0 only, so that sums over buckets are right.

What is shuffled depends on the rows alone, never on a clock: when an executor is lost, Spark packs again and goes on
only if the same comes out. The time that packing took is observed before the shuffle and left there.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from dovetail.engine.admit.conform import conform, times_us, without_null_times
from dovetail.engine.admit.horizon import spans_of
from dovetail.engine.evaluate import evaluate
from dovetail.model.expression import Expression
from dovetail.model.stream import Stream
from dovetail.plan.partition_grid import Grid
from dovetail.runtime.deal import Route, Rows, deal
from dovetail.runtime.hot_keys import Sample
from dovetail.runtime.spark.blob import BlobColumn, in_pieces, owned
from dovetail.runtime.spark.left_files import LEAST_BYTES, batch_folder, leave
from dovetail.runtime.spark.packed import CHANGE, NO_STREAM, PACKED
from dovetail.runtime.spark.worker_memory import give_back, settle

Counts = npt.NDArray[np.int64]
Parcels = Mapping[str, object]

PIECE_BYTES = 16 << 20  # a worker's memory holds five of them: as they came, in one block, dealt out, and what is free
_MANY = 4  # pieces of one task; after fewer the next batch finds their memory again
_NOTHING = dict.fromkeys(("partition", "sequence", "rows", "null_times", "filtered", "pack_us"), 0)


@dataclass(frozen=True)
class Packer:
    """What packing one stream takes; a value that travels to the workers.

    ``arriving`` names the columns as they come, ``kept`` those that the engine wants, ``filters`` what
    can be judged here, and ``numbers`` is the bucket number of each cell. Rows without a time go no further,
    unless they are handed over in the end. With ``gap_us`` heartbeats tell all times, as spans with such gaps between.
    ``tells_loads``: every cell is told how many rows all of them get, by which it has its part of a budget.
    ``leaves_files``: of the operator of this name large parcels stay on this machine.
    ``routes``: how rows of hot keys go in this batch.
    """

    stream: Stream
    position: int
    arriving: tuple[str, ...]
    kept: tuple[str, ...]
    filters: tuple[Expression, ...]
    grid: Grid
    numbers: tuple[int, ...]
    keeps_null_times: bool = False
    gap_us: int | None = None
    tells_loads: bool = False
    leaves_files: str | None = None
    routes: tuple[Route, ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack one source partition."""
        context = TaskContext.get()
        return self.packed(batches, context.partitionId() if context else 0)

    def packed(self, batches: Iterable[pa.RecordBatch], partition: int) -> Iterator[pa.RecordBatch]:
        """Pack the rows of one place in a batch, a piece at a time that is bounded with all of its copies."""
        settle("packing")
        seen = sequence = pieces = 0
        widths = [route.width for route in self.routes if route.split != self.stream.name]
        copies = self.grid.copies(self.stream.name) * max(widths, default=1)
        for piece in in_pieces(batches, int(PIECE_BYTES / copies)):
            rows = owned(piece).rename_columns(list(self.arriving))
            made = self.pack(rows, partition, sequence, partition + seen)
            yield made
            seen += rows.num_rows
            sequence += made.num_rows
            pieces += 1
        if pieces > _MANY:
            give_back()

    def pack(self, rows: pa.RecordBatch, partition: int, sequence: int, position: int) -> pa.RecordBatch:
        """Packed rows for every cell, numbered on from ``sequence``."""
        started = perf_counter_ns()
        columns = conform(self.stream, rows, self.arriving)
        timed, lost = _with_times(columns, self.stream.time)
        columns = columns if self.keeps_null_times else timed
        times = times_us(timed[self.stream.time])
        newest = int(times.max()) if len(times) else None
        spans = None if self.gap_us is None else np.array(spans_of(times, self.gap_us), np.int64).tobytes()
        chosen = self._passing(columns)
        cells, parcels, dealt = self._parcels(chosen, position, f"{self.position}-{partition}-{sequence}")
        filtered = len(columns[self.stream.time]) - len(chosen[self.stream.time])
        totals = {"rows": rows.num_rows, "null_times": lost, "filtered": filtered}
        totals["pack_us"] = (perf_counter_ns() - started) // 1000
        heartbeat = {"partition": partition, "newest": newest, "spans": spans, "loads": None}
        made = self._packed(heartbeat, sequence, totals, cells, parcels)
        return self._with_loads(made, cells, dealt) if self.tells_loads else made

    def told(self, rows: int, newest: int) -> pa.RecordBatch:
        """What every cell hears of rows that nobody reads: how far they go, and in totals how many they are."""
        cells = list(range(self.grid.cells))
        heartbeat = {"partition": 0, "newest": newest, "spans": None, "loads": None}
        totals = {"rows": rows, "null_times": 0, "filtered": 0, "pack_us": 0}
        nothing = [None] * len(cells)
        return self._packed(heartbeat, 0, totals, cells, {"blob": nothing, "file": nothing})

    def _with_loads(self, packed: pa.RecordBatch, cells: list[int], dealt: Counts) -> pa.RecordBatch:
        """The first row of each cell says how many rows each has got."""
        loads = dealt.tobytes()
        told = [loads if at == 0 or cells[at - 1] != cell else None for at, cell in enumerate(cells)]
        return packed.set_column(
            packed.schema.get_field_index("loads"), PACKED.field("loads"), pa.array(told, pa.binary())
        )

    def sample(self, batches: Iterable[pa.RecordBatch], total: int) -> Sample:
        """The keys of some rows, which stand for so many; those that are filtered out count for nothing."""
        read, found = 0, []
        for rows in batches:
            columns, _ = _with_times(conform(self.stream, rows, self.arriving), self.stream.time)
            chosen = self._passing(columns)
            read += rows.num_rows
            count = len(chosen[self.stream.time])
            found.append(Sample.of(self.grid, Rows(self.stream.name, self._named(chosen), count, 0), count))
        return Sample.together(found, total / max(1, read))

    def _passing(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The kept columns of the rows for which every filter is true."""
        keep = None
        for condition in self.filters:
            holds = evaluate(condition, self._named(columns), len(columns[self.stream.time]))
            keep = holds if keep is None else pc.and_kleene(keep, holds)
        return {name: columns[name] if keep is None else columns[name].filter(keep) for name in self.kept}

    def _named(self, columns: Mapping[str, pa.Array]) -> dict[tuple[str, str], pa.Array]:
        return {(self.stream.name, name): array for name, array in columns.items()}

    def _parcels(self, columns: Mapping[str, pa.Array], position: int, name: str) -> tuple[list[int], Parcels, Counts]:
        """Blobs or files, the cell of each, and the rows of each cell; a cell without rows has one that is NULL."""
        batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        ends = np.array([0, batch.num_rows])
        if self.grid.cells > 1:
            times = times_us(columns[self.stream.time]) if self.routes else None
            rows = Rows(self.stream.name, self._named(columns), batch.num_rows, position, times)
            row, ends = deal(self.grid, rows, self.routes)
            batch = batch.take(pa.array(row))
        blobs = BlobColumn(batch.schema)
        cells: list[int] = []
        files: list[str | None] = []
        large = self.leaves_files is not None and batch.nbytes >= LEAST_BYTES * self.grid.cells
        folder = batch_folder() if large else None
        for number, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            own = batch.slice(start, stop - start)
            left = leave(own, folder / f"{self.leaves_files}-{name}-{number}") if folder and own.num_rows else None
            written = 0 if left else blobs.write([own])
            if not written:
                blobs.write_null()
            cells += [number] * max(1, written)
            files += [left] * max(1, written)
        return cells, {"blob": blobs.array(), "file": files}, np.diff(ends).astype(np.int64)

    def _packed(
        self,
        heartbeat: Mapping[str, object],
        sequence: int,
        totals: Mapping[str, int],
        cells: list[int],
        parcels: Parcels,
    ) -> pa.RecordBatch:
        alike = {"stream": self.position, **heartbeat}
        columns: dict[str, object] = {name: [value] * len(cells) for name, value in alike.items()}
        columns |= {name: [total, *[0] * (len(cells) - 1)] for name, total in totals.items()}
        columns |= {"bucket": [self.numbers[cell] for cell in cells], **parcels}
        columns["sequence"] = range(sequence, sequence + len(cells))
        return pa.RecordBatch.from_pydict(columns, schema=PACKED)


def ticks(batches: Iterable[pa.RecordBatch], numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """A packed row of no stream for every bucket, if the clock says anything at all: it has a batch run there."""
    if any(batch.num_rows for batch in batches):
        row = {**_NOTHING, "stream": NO_STREAM, "newest": None, "blob": None}
        yield pa.RecordBatch.from_pylist([{**row, "bucket": number} for number in numbers], PACKED)


def query_sets(batches: Iterable[pa.RecordBatch], numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """A packed row of no stream for every bucket and every set of queries, numbered by its version."""
    for text in (text for batch in batches for text in batch.column(0).to_pylist()):
        row = {**_NOTHING, "stream": CHANGE, "sequence": json.loads(text)["version"], "blob": text.encode()}
        yield pa.RecordBatch.from_pylist([{**row, "bucket": number} for number in numbers], PACKED)


def _with_times(columns: dict[str, pa.Array], time: str) -> tuple[dict[str, pa.Array], int]:
    if not columns[time].null_count:
        return columns, 0
    kept, lost = without_null_times(columns, time)
    return kept, len(lost[time])
