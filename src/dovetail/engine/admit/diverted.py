"""Rows that did not come in and that the user asked to see: which stream, why, how late, the row itself.

    add      rows of one stream, with the reason; small pieces are put together, large ones cut
    table    all that nobody has taken yet
    take     the same, and they are forgotten

They are part of the state until they are taken. Kept narrow, they take what the rows themselves take; only a table
that is asked for has a column per stream.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.buffer.section import SliceKey, Slices
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream

_PIECE_ROWS = 1 << 12  # rows that are forgotten together: few enough that the newest can be kept almost exactly
_PIECE_BYTES = 1 << 11  # what a piece takes beside its rows: about thirty small objects
_LATE_BY = pa.duration("us")


@dataclass(frozen=True)
class _Piece:
    """Rows of one stream that stayed out for one reason; ``rows`` begins with how late each was."""

    number: int
    stream: str
    reason: str
    rows: pa.RecordBatch
    written: bool = field(default=False, compare=False)

    @cached_property
    def nbytes(self) -> int:
        return int(self.rows.nbytes) + _PIECE_BYTES


class Diverted:
    """The side output of one query: one struct column per stream, NULL for the others' rows."""

    section = "diverted"

    def __init__(self, query: JoinQuery) -> None:
        self.wanted = query.late == "divert"
        self._streams = {stream.name: stream for stream in query.streams}
        structs = [pa.field(name, pa.struct(list(stream.schema))) for name, stream in self._streams.items()]
        what = [pa.field("stream", pa.string()), pa.field("reason", pa.string()), pa.field("late_by", _LATE_BY)]
        self.schema = pa.schema([*what, *structs])
        self._pieces: list[_Piece] = []
        self._gone: list[int] = []
        self._next = 0
        self.nbytes = 0
        self.forgotten = 0

    def __len__(self) -> int:
        return sum(piece.rows.num_rows for piece in self._pieces)

    def add(
        self, stream: Stream, columns: dict[str, pa.Array], reason: str, late_by: npt.NDArray[np.int64] | None
    ) -> None:
        """Keep rows of one stream, if the user asked for them."""
        if self.wanted:
            self._keep(stream, columns, reason, late_by)

    def _keep(
        self, stream: Stream, columns: dict[str, pa.Array], reason: str, late_by: npt.NDArray[np.int64] | None
    ) -> None:
        count = len(columns[stream.time])
        if not count:
            return
        late = pa.nulls(count, _LATE_BY) if late_by is None else pa.array(late_by, _LATE_BY)
        rows = pa.RecordBatch.from_arrays(
            [late, *(columns[each.name] for each in stream.schema)], ["late_by", *stream.schema.names]
        )
        for start in range(0, count, _PIECE_ROWS):
            some = np.arange(start, min(start + _PIECE_ROWS, count))
            self._append(_Piece(self._next, stream.name, reason, rows.take(pa.array(some))))

    def _append(self, piece: _Piece) -> None:
        """Behind the others, put together with those before it while they are not much larger."""
        self._next = max(self._next, piece.number) + 1
        while self._pieces and _belong_together(self._pieces[-1], piece):
            before = self._pieces.pop()
            self.nbytes -= before.nbytes
            piece = replace(before, rows=pa.concat_batches([before.rows, piece.rows]))
        self._pieces.append(piece)
        self.nbytes += piece.nbytes

    def failed(self, stream: Stream, rows: pa.Table, error: Exception) -> None:
        """Keep the rows of a batch that could not be joined."""
        columns = {field.name: rows[field.name].combine_chunks() for field in stream.schema}
        self._keep(stream, columns, f"error: {error}", None)

    def table(self) -> pa.Table:
        """The rows that nobody has taken yet."""
        return pa.Table.from_batches(map(self._wide, self._pieces), self.schema)

    def drain(self) -> pa.Table:
        """The same; they are forgotten here."""
        rows = self.table()
        self._drop(len(self._pieces))
        return rows

    def keep_newest(self, most: float) -> None:
        """Forget the oldest rows until no more than so many bytes are left, and count them."""
        left, gone = self.nbytes, 0
        while left > most and gone < len(self._pieces):
            left -= self._pieces[gone].nbytes
            self.forgotten += self._pieces[gone].rows.num_rows
            gone += 1
        self._drop(gone)

    def _drop(self, pieces: int) -> None:
        gone, self._pieces = self._pieces[:pieces], self._pieces[pieces:]
        self._gone += [piece.number for piece in gone if piece.written]
        self.nbytes -= sum(piece.nbytes for piece in gone)

    def metrics(self) -> dict[str, int]:
        """Rows that wait to be taken, what they take, and how many were forgotten for want of memory."""
        return {"waiting": len(self), "bytes": self.nbytes, "forgotten": self.forgotten}

    def _wide(self, piece: _Piece) -> pa.RecordBatch:
        """As the user sees it: a struct under the name of its stream."""
        count, stream = piece.rows.num_rows, self._streams[piece.stream]
        told = [pa.repeat(piece.stream, count), pa.repeat(piece.reason, count), piece.rows.column(0)]
        own = pa.StructArray.from_arrays(piece.rows.columns[1:], fields=list(stream.schema))
        structs = [own if name == piece.stream else self._nulls(name, count) for name in self._streams]
        return pa.RecordBatch.from_arrays([*told, *structs], schema=self.schema)

    def _nulls(self, name: str, count: int) -> pa.Array:
        return pa.nulls(count, self.schema.field(name).type)

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        """Pieces to write and pieces to delete since the last call."""
        new = {(self.section, piece.number): self._wide(piece) for piece in self._pieces if not piece.written}
        self._pieces = [replace(piece, written=True) for piece in self._pieces]
        gone, self._gone = self._gone, []
        return new, [(self.section, number) for number in gone]

    def state(self) -> Slices:
        """All pieces, without taking note of having written them."""
        return {(self.section, piece.number): self._wide(piece) for piece in self._pieces}

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        """A piece read back."""
        stream, reason = rows.column("stream")[0].as_py(), rows.column("reason")[0].as_py()
        columns = [rows.column("late_by"), *rows.column(stream).flatten()]
        narrow = pa.RecordBatch.from_arrays(columns, ["late_by", *self._streams[stream].schema.names])
        self._append(_Piece(number, stream, reason, narrow, written=True))

    def drop(self, numbers: set[int]) -> None:
        """These pieces were taken elsewhere."""
        self._pieces = [piece for piece in self._pieces if piece.number not in numbers]
        self.nbytes = sum(piece.nbytes for piece in self._pieces)

    def header(self) -> dict[str, Any]:
        """Where to go on counting."""
        return {"next": self._next, "forgotten": self.forgotten}

    def restore(self, header: dict[str, Any]) -> None:
        """Go on from where another left off."""
        self._next, self.forgotten = int(header["next"]), int(header["forgotten"])
        self._gone.clear()


def _belong_together(before: _Piece, piece: _Piece) -> bool:
    """Whether two pieces are alike and of a size, so that a row is moved a few times at most."""
    alike = (before.stream, before.reason) == (piece.stream, piece.reason) and not before.written and not piece.written
    rows = before.rows.num_rows + piece.rows.num_rows
    return alike and before.rows.num_rows < 2 * piece.rows.num_rows and rows <= _PIECE_ROWS
