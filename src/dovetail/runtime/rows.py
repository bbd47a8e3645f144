"""Rows in whatever form a user has them, as an Arrow table."""

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from dovetail.errors import DataError
from dovetail.model.files import Files
from dovetail.model.stream import Stream
from dovetail.runtime.dict_rows import from_dicts


def as_table(stream: Stream, rows: Any, needed: Collection[str] = ()) -> pa.Table | pa.RecordBatch:
    """Rows that are pushed: all that ``arrow_of`` reads, and lists of dicts, which have the ``needed`` columns."""
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return rows
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return from_dicts(stream, rows, needed)
    if isinstance(rows, Files):
        from dovetail.runtime.files.table import whole_table  # brings the kernels with it

        return whole_table(stream, rows)
    try:
        table = arrow_of(rows)
    except DataError as error:
        raise DataError(f"rows for stream {stream.name!r}: {error}") from error
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
    if hasattr(data, "__arrow_c_stream__") and not isinstance(data, type):
        table = _exported(data)
        return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
    return data.to_arrow_table() if hasattr(data, "to_arrow_table") else None


def _exported(data: Any) -> pa.Table:
    """What the data says of itself as Arrow; a column of mixed Python objects has no type there."""
    try:
        return pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        reasons = ". ".join(map(str, error.args))
        raise DataError(
            f"a {type(data).__name__} cannot be read as Arrow: {reasons}. Give each column values of one type."
        ) from error
