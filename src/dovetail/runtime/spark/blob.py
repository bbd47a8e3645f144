"""Record batches as values of one column: each is a stream in Arrow's own format, columns named by position.

Names inside are ``c0, c1, ...`` so that no name a user may choose can matter on the way. Values are small: Spark hands
rows to Python by the number of rows, not of bytes (``session`` says why), and what it hands over at once must fit into
memory all the same.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

SLICE_BYTES = 64 << 10  # a blob has about so many bytes, and less than twice as many


class BlobColumn:
    """Blobs, one after the other in one buffer."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = pa.schema([pa.field(f"c{at}", field.type) for at, field in enumerate(schema)])
        self._sink = pa.BufferOutputStream()
        self._ends = [0]
        self._valid: list[bool] = []

    def write(self, batches: Iterable[pa.RecordBatch]) -> int:
        """Rows of the schema, as few blobs as they need; how many those are."""
        before = len(self._valid)
        for piece in in_pieces(_sliced(batches), SLICE_BYTES):
            with pa.ipc.new_stream(self._sink, self._schema) as writer:
                for batch in piece:
                    writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema))
            self._end(valid=True)
        return len(self._valid) - before

    def write_null(self) -> None:
        """A value for no rows."""
        self._end(valid=False)

    def _end(self, valid: bool) -> None:
        self._ends.append(self._sink.tell())
        self._valid.append(valid)

    def array(self) -> pa.Array:
        """The column, not copied once more."""
        validity = pa.array(self._valid, pa.bool_()).buffers()[1]
        ends = pa.py_buffer(np.array(self._ends, np.int32))
        return pa.Array.from_buffers(pa.binary(), len(self._valid), [validity, ends, self._sink.getvalue()])


def _sliced(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = max(1, -(-SLICE_BYTES * batch.num_rows // max(1, batch.nbytes)))
        yield from (batch.slice(at, rows) for at in range(0, batch.num_rows, rows))


def from_blob(blob: "bytes | pa.Buffer", names: Sequence[str]) -> list[pa.RecordBatch]:
    """The batches of a blob under these names, without copying their values."""
    with pa.ipc.open_stream(blob) as reader:
        return [pa.RecordBatch.from_arrays(batch.columns, names=list(names)) for batch in reader]


def owned(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """One contiguous batch in memory of its own: blobs are read-only, and the engine's kernels do not take that."""
    return pa.concat_batches(batches)


def in_pieces(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    """Batches in groups of about ``size`` bytes, empty batches left out."""
    group: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        if batch.num_rows:
            group.append(batch)
            held += batch.nbytes
        if held >= size:
            yield group
            group, held = [], 0
    if group:
        yield group
