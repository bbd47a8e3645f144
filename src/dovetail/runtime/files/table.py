"""Files as one table, in the types of their stream."""

from collections.abc import Sequence

import pyarrow as pa

from dovetail.engine.admit.conform import conform
from dovetail.model.files import Files
from dovetail.model.stream import Stream
from dovetail.runtime.files.decode import decoded
from dovetail.runtime.files.feed import all_files
from dovetail.runtime.files.listing import Known

Pieces = Sequence[tuple[Known, Sequence[int] | None]]


def table_of(stream: Stream, source: Files, pieces: Pieces, columns: Sequence[str]) -> pa.Table:
    """The rows of files, or of some of their row groups (None: all), one after the other."""
    schema = pa.schema([stream.schema.field(name) for name in columns])
    batches = []
    for file, groups in pieces:
        for batch in decoded(source, file, stream.schema, columns, groups) if groups is None or groups else ():
            batches.append(pa.RecordBatch.from_arrays(list(conform(stream, batch, columns).values()), schema=schema))
    return pa.Table.from_batches(batches, schema)


def whole_table(stream: Stream, source: Files) -> pa.Table:
    """All rows of all files that there are now."""
    pieces = [(file, None) for file in all_files(source, stream.time)]
    return table_of(stream, source, pieces, stream.schema.names)
