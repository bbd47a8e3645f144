"""Rows in whatever form a user has them, as an Arrow table."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dovetail.errors import DataError, nearest
from dovetail.model.stream import Stream


def as_table(stream: Stream, rows: Any) -> pa.Table | pa.RecordBatch:
    """Arrow tables and batches as they are; pandas, Polars and DuckDB by their Arrow export; lists of dicts."""
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return rows
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return _from_dicts(stream, rows)
    if hasattr(rows, "__arrow_c_stream__"):
        table = pa.table(rows)
        return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
    if hasattr(rows, "to_arrow_table"):
        return rows.to_arrow_table()
    raise DataError(
        f"rows for stream {stream.name!r} are a {type(rows).__name__}; "
        "give an Arrow table or batch, a pandas or Polars frame, a DuckDB relation, or a list of dicts"
    )


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
