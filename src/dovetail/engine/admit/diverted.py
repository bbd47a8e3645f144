"""Rows that did not come in and that the user asked to see: which stream, why, how late, the row itself."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream


class Diverted:
    """The side output of one query: one struct column per stream, NULL for the others' rows."""

    def __init__(self, query: JoinQuery) -> None:
        self._wanted = query.late == "divert"
        rows = [pa.field(stream.name, pa.struct(list(stream.schema))) for stream in query.streams]
        what = [("stream", pa.string()), ("reason", pa.string()), ("late_by", pa.duration("us"))]
        self.schema = pa.schema([*(pa.field(*field) for field in what), *rows])
        self._batches: list[pa.RecordBatch] = []

    def add(
        self, stream: Stream, columns: dict[str, pa.Array], reason: str, late_by: npt.NDArray[np.int64] | None
    ) -> None:
        """Keep rows of one stream, if the user asked for them."""
        if self._wanted:
            self._batches += self._rows(stream, columns, reason, late_by)

    def _rows(
        self, stream: Stream, columns: dict[str, pa.Array], reason: str, late_by: npt.NDArray[np.int64] | None
    ) -> list[pa.RecordBatch]:
        count = len(columns[stream.time])
        if not count:
            return []
        arrays = []
        for field in self.schema:
            if field.name == "stream":
                arrays.append(pa.array([stream.name] * count, pa.string()))
            elif field.name == "reason":
                arrays.append(pa.array([reason] * count, pa.string()))
            elif field.name == "late_by":
                arrays.append(pa.nulls(count, field.type) if late_by is None else pa.array(late_by, field.type))
            elif field.name == stream.name:
                fields = list(stream.schema)
                arrays.append(pa.StructArray.from_arrays([columns[f.name] for f in fields], fields=fields))
            else:
                arrays.append(pa.nulls(count, field.type))
        return [pa.RecordBatch.from_arrays(arrays, schema=self.schema)]

    def failed(self, stream: Stream, rows: pa.Table, error: Exception) -> None:
        """Keep the rows of a batch that could not be joined."""
        columns = {field.name: rows[field.name].combine_chunks() for field in stream.schema}
        self._batches += self._rows(stream, columns, f"error: {error}", None)

    def take(self) -> pa.Table:
        """The rows diverted since the last call."""
        batches, self._batches = self._batches, []
        return pa.Table.from_batches(batches, self.schema)
