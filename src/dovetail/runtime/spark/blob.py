"""Record batches as single values: Arrow's own stream format, columns named by position.

Names inside are ``c0, c1, ...`` so that no name a user may choose can matter on the way.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa


def to_blob(batches: Sequence[pa.RecordBatch]) -> memoryview:
    """Batches of one schema (at least one) as bytes."""
    sink = pa.BufferOutputStream()
    schema = _by_position(batches[0].schema)
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return memoryview(sink.getvalue())


def blob_array(batches: Sequence[pa.RecordBatch]) -> pa.Array:
    """The same as an array of one value, not copied once more."""
    blob = pa.py_buffer(to_blob(batches))
    return pa.Array.from_buffers(pa.binary(), 1, [None, pa.py_buffer(np.array([0, blob.size], np.int32)), blob])


def _by_position(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(f"c{at}", field.type) for at, field in enumerate(schema)])


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
