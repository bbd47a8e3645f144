"""After the operator: blobs become rows of the result again.

In an ordered query all blobs of a batch come to one unpacker, which merges them: each is in order as its bucket
released it, or nearly (several queries may share it). That is enough for the whole output: what a batch releases is
never older than what earlier ones did.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from dovetail.runtime.merge_order import merged
from dovetail.runtime.spark.blob import from_blob


@dataclass(frozen=True)
class Unpacker:
    """Rows of ``schema`` from blobs; rows without a blob (reports) vanish here."""

    schema: pa.Schema
    ordered: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Unpack one partition of the operator's output."""
        rows = (rows for batch in batches for rows in self._unpacked(batch.column("blob")))
        return merged(list(rows)) if self.ordered else rows

    def _unpacked(self, blobs: pa.Array) -> Iterator[pa.RecordBatch]:
        for blob in blobs:
            if blob.is_valid:
                for batch in from_blob(blob.as_buffer(), self.schema.names):
                    yield batch.cast(self.schema)
