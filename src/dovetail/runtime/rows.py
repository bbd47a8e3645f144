"""Rows in whatever form a user has them, as an Arrow table."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dovetail.errors import DataError, nearest
from dovetail.model.stream import Stream


def as_table(stream: Stream, rows: Any) -> pa.Table | pa.RecordBatch:
    """Rows that are pushed: all that ``arrow_of`` reads, and lists of dicts."""
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return _from_dicts(stream, rows)
    table = arrow_of(rows)
    if table is None:
        raise DataError(
            f"rows for stream {stream.name!r} are a {type(rows).__name__}; "
            "give an Arrow table or batch, a pandas or Polars frame, a DuckDB relation, or a list of dicts"
        )
    return table


def arrow_of(data: Any) -> pa.Table | pa.RecordBatch | None:
    """Arrow tables and batches as they are; readers, pandas, Polars and DuckDB by their Arrow export; else None.

    A reader, a lazy frame and a relation are run here, once, so what comes of them can be used again and again.
    """
    if isinstance(data, pa.Table | pa.RecordBatch):
        return data
    if type(data).__module__.startswith("polars.") and type(data).__name__ == "LazyFrame":
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__"):
        table = pa.table(data)
        return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
    return data.to_arrow_table() if hasattr(data, "to_arrow_table") else None


def _from_dicts(stream: Stream, rows: Sequence[Any]) -> pa.Table:
    bad = next((row for row in rows if not isinstance(row, dict)), None)
    if bad is not None:
        raise DataError(f"rows for stream {stream.name!r} hold a {type(bad).__name__}; each row of a list is a dict")
    unknown = next((key for row in rows for key in row if key not in stream.schema.names), None)
    if unknown is not None:
        raise DataError(f"stream {stream.name!r} has no column {unknown!r}; {nearest(unknown, stream.schema.names)}")
    try:
        return pa.Table.from_pylist(list(rows), schema=stream.schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"rows for stream {stream.name!r} do not fit its columns: {error}") from error
