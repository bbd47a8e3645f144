"""Where results go, and the protocol by which each batch gets there once.

manifest   Spark's own file sink: files of finished tasks, and a note that a batch is done, written at once
files      a folder per batch that is replaced whole, by the code behind ``shared.write``
function   a function of the user's that keeps what it was given per batch number, with marks by the same code
native     files that tasks write themselves and the driver commits, by the code behind ``query.write``
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import dovetail as dv
from dovetail.runtime.files.listing import filesystem
from dovetail.runtime.spark import sinks
from dovetail.runtime.spark.output import REPORT, Blobs
from dovetail.runtime.spark.sink import filed, parquet
from dovetail.runtime.spark.sink.parquet import ParquetFolder, Written
from dovetail.runtime.spark.sinks import Sink
from dovetail.runtime.spark.unpack import Unpacker
from tests.simulation.cluster import Killed
from tests.simulation.pipeline import Pipeline

Frames = Sequence[pd.DataFrame]


class AnalysisException(Exception):  # noqa: N818
    """What Spark raises for a file that is not there."""


@dataclass
class Files:
    """A file system, as a session reads and writes marks in it."""

    marks: dict[str, int] = field(default_factory=dict)

    def parquet(self, path: str) -> Any:
        if path not in self.marks:
            raise AnalysisException(path)
        return SimpleNamespace(take=lambda count: [SimpleNamespace(id=self.marks[path])])

    @property
    def read(self) -> "Files":
        return self

    def range(self, start: int, end: int) -> Any:
        def write(path: str) -> None:
            self.marks[path] = start

        writer = SimpleNamespace(mode=lambda how: SimpleNamespace(parquet=write))
        return SimpleNamespace(coalesce=lambda count: SimpleNamespace(write=writer))


@dataclass
class Output:
    """A sink of one kind, and what is in it; ``fails_at``: where it fails the next time that it is written."""

    kind: str
    batches: dict[int, pa.Table] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    again: list[int] = field(default_factory=list)
    fails_at: int | None = None
    _files: Files = field(default_factory=Files)

    def behind(self, made: Pipeline) -> Pipeline:
        """The pipeline with the last step that this sink asks for."""
        return made

    def start(self) -> None:
        """Before a query starts."""

    def take(self, frames: Frames, made: Pipeline, batch: int) -> None:
        """What the tasks of a batch have given out, all of it, or once more."""
        self.write(_rows(frames, made), batch)

    def write(self, rows: pa.Table, batch: int) -> None:
        """The rows of a batch."""
        if self.kind == "manifest":
            self._fail()
            self.batches.setdefault(batch, rows)
            return
        to_files = self.kind == "files"
        sink = Sink("all", tuple(rows.column_names), self._replace if to_files else self._keep, repeats=to_files)
        frame: Any = SimpleNamespace(sparkSession=self._files, rows=rows)
        sinks.write_once(sink, "checkpoint", frame, batch)
        self.done.add(batch)

    def _replace(self, frame: Any, batch: int) -> None:
        """A folder of files: what was there goes first, the new files follow one by one."""
        self.batches[batch] = frame.rows.slice(0, frame.rows.num_rows // 2)
        self._fail()
        self.batches[batch] = frame.rows

    def _keep(self, frame: Any, batch: int) -> None:
        """A function of the user's, told the number of the batch; it fails before or after it has kept the rows."""
        self.again += [batch] if batch in self.done else []
        if self.fails_at is not None and self.fails_at % 2:
            self._fail()
        self.batches[batch] = frame.rows
        self._fail()

    def forget(self, batch: int) -> None:
        """As it was before a batch."""
        self.batches.pop(batch, None)
        self.done.discard(batch)
        self._files.marks = {path: number for path, number in self._files.marks.items() if number != batch}

    def _fail(self) -> None:
        if self.fails_at is not None:
            self.fails_at = None
            raise Killed("the sink")

    def rows(self, schema: pa.Schema) -> pa.Table:
        """Everything, in order of batches."""
        tables = [self.batches[batch] for batch in sorted(self.batches)]
        return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])


@dataclass
class Native(Output):
    """The folder of ``dovetail.parquet``."""

    _folder: Any = field(default_factory=TemporaryDirectory)

    @property
    def place(self) -> ParquetFolder:
        return ParquetFolder(dv.parquet(self._folder.name))

    def behind(self, made: Pipeline) -> Pipeline:
        ordered = isinstance(made.output, Blobs) and made.output.ordered
        return replace(made, output=filed.filed(made.schema, ordered, self.place))

    def start(self) -> None:
        self.place.tidy()

    def take(self, frames: Frames, made: Pipeline, batch: int) -> None:
        if isinstance(made.output, Blobs):
            unpacked = Unpacker(made.output.schema, made.output.ordered)(_blobs(frames))
            named = list(filed._written(self.place, unpacked, 0, "query"))
        else:
            named = [{name: frame[name].array for name in filed._NAMES.names} for frame in _told(frames)]
        written = [Written(*(pa.array(each[name])[0].as_py() for name in filed._NAMES.names)) for each in named]
        with self._failing():
            self.place.commit(written, batch)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Inside, the driver dies before, between or after the files that a commit moves and removes, if so told."""

        def dying(path: str) -> tuple[Any, str]:
            store, folder = filesystem(path)
            return _Dying(store, self), folder

        with patch.object(parquet, "filesystem", dying):
            yield
        self._fail()

    def forget(self, batch: int) -> None:
        for file in Path(self._folder.name, f"batch={batch}").glob("*"):
            file.unlink()

    def rows(self, schema: pa.Schema) -> pa.Table:
        """What whoever reads the folder finds."""
        folders = sorted(Path(self._folder.name).glob("batch=*"), key=lambda folder: int(folder.name[6:]))
        files = [file for folder in folders for file in sorted(folder.glob("*.parquet"))]
        return pa.concat_tables([schema.empty_table(), *(pq.ParquetFile(file).read().cast(schema) for file in files)])


class _Dying:
    """A file system whose user dies at the change that a sink was told to fail at."""

    def __init__(self, store: Any, sink: Output) -> None:
        self._store, self._sink = store, sink

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def move(self, source: str, target: str) -> None:
        self._maybe_die()
        self._store.move(source, target)

    def delete_file(self, path: str) -> None:
        self._maybe_die()
        self._store.delete_file(path)

    def _maybe_die(self) -> None:
        if self._sink.fails_at is not None:
            self._sink.fails_at -= 2
            if self._sink.fails_at < 0:
                self._sink._fail()


def output(kind: str) -> Output:
    """A sink that is empty."""
    return Native(kind) if kind == "native" else Output(kind)


def _told(frames: Frames) -> list[pd.DataFrame]:
    return [frame for frame in frames if not pa.array(frame[REPORT].array)[0].is_valid]  # reports come alone


def _blobs(frames: Frames) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pydict({"blob": pa.array(frame["blob"], pa.binary())}) for frame in _told(frames)]


def _rows(frames: Frames, made: Pipeline) -> pa.Table:
    """The last step of a pipeline whose rows leave it."""
    output: Any = made.output
    if isinstance(output, Blobs):
        return pa.Table.from_batches(Unpacker(output.schema, output.ordered)(_blobs(frames)), output.schema)
    names = [f"c{at}" for at in range(len(output.schema))]
    tables = [
        pa.Table.from_arrays([pa.array(frame[name].array) for name in names], output.schema.names)
        for frame in _told(frames)
    ]
    return pa.concat_tables([output.schema.empty_table(), *(table.cast(output.schema) for table in tables)])
