"""Where results go, and the protocol by which each batch gets there once.

manifest   Spark's own file sink: files of finished tasks, and a note that a batch is done, written at once
files      a folder per batch that is replaced whole, by the code behind ``shared.write``
function   a function of the user's that keeps what it was given per batch number, with marks by the same code
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from dovetail.runtime.spark import sinks
from dovetail.runtime.spark.sinks import Sink
from tests.simulation.cluster import Killed


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
    """A sink of one kind, and what is in it."""

    kind: str
    batches: dict[int, pa.Table] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    again: list[int] = field(default_factory=list)
    fails_at: int | None = None
    _files: Files = field(default_factory=Files)

    def write(self, rows: pa.Table, batch: int) -> None:
        """The rows of a batch, all of them, or once more."""
        if self.kind == "manifest":
            self._maybe_fail(0)
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
        self._maybe_fail(0)
        self.batches[batch] = frame.rows

    def _keep(self, frame: Any, batch: int) -> None:
        """A function of the user's, told the number of the batch; it fails before or after it has kept the rows."""
        self.again += [batch] if batch in self.done else []
        self._maybe_fail(0)
        self.batches[batch] = frame.rows
        self._maybe_fail(1)

    def forget(self, batch: int) -> None:
        """As it was before a batch."""
        self.batches.pop(batch, None)
        self.done.discard(batch)
        self._files.marks = {path: number for path, number in self._files.marks.items() if number != batch}

    def _maybe_fail(self, place: int) -> None:
        if self.fails_at is not None and self.fails_at % 2 == place:
            self.fails_at = None
            raise Killed("the sink")

    def rows(self, schema: pa.Schema) -> pa.Table:
        """Everything, in order of batches."""
        tables = [self.batches[batch] for batch in sorted(self.batches)]
        return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])
