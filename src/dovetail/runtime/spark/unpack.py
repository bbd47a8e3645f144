"""After the operator: blobs become rows of the result again.

In an ordered query all blobs of a batch come to one unpacker, which sorts them. That is enough for the
whole output: what a batch releases is never older than what earlier batches released.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.runtime.spark.blob import from_blob

_PIECE = 1 << 16


@dataclass(frozen=True)
class Unpacker:
    """Rows of ``schema`` from blobs; rows without a blob (reports) vanish here."""

    schema: pa.Schema
    ordered: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Unpack one partition of the operator's output."""
        rows = (rows for batch in batches for rows in self._unpacked(batch.column("blob")))
        return self._sorted(rows) if self.ordered else rows

    def _unpacked(self, blobs: pa.Array) -> Iterator[pa.RecordBatch]:
        for blob in blobs:
            if blob.is_valid:
                for batch in from_blob(blob.as_buffer(), self.schema.names):
                    yield batch.cast(self.schema)

    def _sorted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A piece at a time, so that Spark reads one while the next is gathered."""
        everything = pa.Table.from_batches(list(batches), self.schema).combine_chunks()
        places = pc.sort_indices(everything["result_time"])
        for start in range(0, len(places), _PIECE):
            yield from everything.take(places.slice(start, _PIECE)).to_batches()
