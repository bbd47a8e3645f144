"""A file as record batches, decoded by Arrow: only the columns that are wanted, in the types of the stream."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from dovetail.errors import DataError, nearest
from dovetail.model.files import Files
from dovetail.model.nested import path_of, tops, with_extracted
from dovetail.runtime.files.listing import Known, filesystem, gone, listed, stamp, unreadable
from dovetail.runtime.files.same import check_opened, check_untouched
from dovetail.runtime.json_lines import json_columns

_CSV_BYTES = 8 << 20  # decoded at once
_ROWS = 1 << 18  # a few megabytes per column


def first_schema(source: Files) -> pa.Schema:
    """The schema of the first file, of the formats that have one; DataError if there is none."""
    if not source.are_parquet and source.format != "arrow":
        raise DataError(f"{source.format} files do not say what types they hold; give schema= as well")
    found = min((file.path for file in listed(source)), default=None)
    if found is None:
        raise DataError(f"there is no file at {source.path} to read the schema from; give schema= as well")
    store, name = filesystem(found)
    try:
        with store.open_input_file(name) as file:
            return _parquet_schema(pq.ParquetFile(file)) if source.are_parquet else _arrow(file).schema
    except (OSError, pa.ArrowException) as error:
        raise unreadable(found, source.format, error) from error


def _parquet_schema(parquet: pq.ParquetFile) -> pa.Schema:
    """As Arrow reads it; times of 96 bits, which only Spark and its like write, are instants in UTC."""
    schema = parquet.schema_arrow
    for number in range(len(parquet.schema)):
        column = parquet.schema.column(number)
        if column.physical_type == "INT96" and column.path in schema.names:
            schema = schema.set(schema.names.index(column.path), pa.field(column.path, pa.timestamp("us", "UTC")))
    return schema.remove_metadata()


def decoded(
    source: Files, known: Known, schema: pa.Schema, columns: Sequence[str], groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a file, or of some of its row groups; DataError names it if it is not the file that was planned."""
    store, name = filesystem(known.path)
    try:
        before = stamp(store, name)
        with store.open_input_file(name) as file:
            check_opened(known, file, before)
            try:
                yield from _read(source, file, schema, columns, groups)
            except (OSError, pa.ArrowException):
                check_untouched(known, store, name, before)  # half of one file and half of another cannot be decoded
                raise
            check_untouched(known, store, name, before)
    except FileNotFoundError as error:
        raise gone(known.path) from error
    except (OSError, pa.ArrowException) as error:
        raise unreadable(known.path, source.format, error) from error


def _read(
    source: Files, file: Any, schema: pa.Schema, columns: Sequence[str], groups: Sequence[int] | None
) -> Iterator[pa.RecordBatch]:
    if source.are_parquet:
        parquet = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
        found = _parquet_schema(parquet)
        whole = tops(schema, columns)
        _check_columns(whole, found)
        some = list(groups) if groups is not None else None
        leaves = [".".join(path_of(schema.field(name))) for name in columns]
        for batch in parquet.iter_batches(_ROWS, row_groups=some, columns=leaves, use_threads=False):
            structs = {field.name: field for field in batch.schema if pa.types.is_struct(field.type)}  # or parts of it
            kept = pa.schema([structs.get(name, found.field(name)) for name in whole])
            yield with_extracted(batch.select(whole).cast(kept), schema, columns)
    elif source.format == "arrow":
        reader = _arrow(file)
        _check_columns(tops(schema, columns), reader.schema)
        numbers = range(reader.num_record_batches) if isinstance(reader, ipc.RecordBatchFileReader) else None
        batches = reader if numbers is None else (reader.get_batch(number) for number in numbers)
        yield from (with_extracted(batch, schema, columns) for batch in batches)
    elif source.format == "csv":
        yield from _csv(source, file, schema, columns)
    else:
        wanted = pa.schema([schema.field(name) for name in tops(schema, columns)])
        if file.size():
            yield from with_extracted(json_columns(file, wanted), schema, columns).to_batches()


def _csv(source: Files, file: Any, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if not file.size():
        return
    read = pacsv.ReadOptions(block_size=_CSV_BYTES, use_threads=False)
    if not source.header:
        read.column_names = schema.names
    types = {field.name: field.type for field in schema}
    convert = pacsv.ConvertOptions(column_types=types, include_columns=list(columns), strings_can_be_null=True)
    convert.null_values, convert.quoted_strings_can_be_null = [""], False  # NA and null are text, and "" is empty text
    parse = pacsv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)
    yield from pacsv.open_csv(file, read, parse, convert)


def _arrow(file: Any) -> Any:
    """Arrow's file format, or its stream format."""
    try:
        return ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file)


def _check_columns(columns: Sequence[str], schema: pa.Schema) -> None:
    for name in columns:
        if name not in schema.names:
            raise pa.ArrowInvalid(f"it has no column {name!r}; {nearest(name, schema.names)}")
