"""Workloads as folders of Parquet files, ``FILES`` per stream and micro-batch, so that both cores read."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workloads import SECOND, Workload

FILES = 2


@contextmanager
def inputs(workload: Workload, batch_rows: int, closing: bool = False) -> Iterator[Path]:
    """The workload as files in a folder that is deleted afterwards; ``batch_rows`` of all streams together per batch.

    ``closing`` adds a few rows, a day later, that match nothing: they let everything before them come out.
    """
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as folder:
        size = batch_rows // len(workload.tables) // FILES
        for place, (name, table) in enumerate(workload.tables.items()):
            pieces = [table.slice(at, size) for at in range(0, table.num_rows, size)]
            write(Path(folder) / name, pieces + (_closing_rows(table, place) if closing else []))
        yield Path(folder)


def _closing_rows(table: pa.Table, place: int) -> list[pa.Table]:
    """Two batches: the first raises the watermarks, the second is judged by them."""
    last = table.slice(table.num_rows - 1)
    rows = []
    for number in range(2 * FILES):
        time = pa.array([last["ts"][0].value + (86_400 + number) * SECOND]).cast(table.schema.field("ts").type)
        moved = last.set_column(0, "ts", time)
        rows.append(moved.set_column(1, table.schema.names[1], pa.array([-1 - place], table.schema.field(1).type)))
    return rows


def write(folder: Path, pieces: list[pa.Table]) -> None:
    """One file each; Spark reads files in the order of their age."""
    folder.mkdir()
    for number, piece in enumerate(pieces):
        file = folder / f"{number:05}.parquet"
        pq.write_table(piece, file)
        os.utime(file, (10**9 + number, 10**9 + number))
