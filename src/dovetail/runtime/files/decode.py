"""A file as record batches, decoded by Arrow: only the columns that are wanted, in the types of the stream."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.ipc as ipc
import pyarrow.json as pajson
import pyarrow.parquet as pq

from dovetail.errors import DataError, nearest
from dovetail.model.files import Files
from dovetail.model.nested import path_of, tops, with_extracted
from dovetail.runtime.files.listing import Known, filesystem, listed, look, unreadable

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
        with store.open_input_file(name) as file:
            _check_same(known, file.size())
            yield from _read(source, file, schema, columns, groups)
            _check_same(known, store.get_file_info([name])[0].size)
    except FileNotFoundError as error:
        raise DataError(f"file {known.path} was there when the batch was planned, and is gone; put it back") from error
    except (OSError, pa.ArrowException) as error:
        raise unreadable(known.path, source.format, error) from error


def check_same(known: Known, time: str, parquet: bool) -> Known:
    """The file as it is now; DataError if it is not as it was."""
    now = look(known.path, time, parquet)
    _check_same(known, now.size)
    if now.tail != known.tail:
        raise DataError(f"file {known.path} was replaced since its batch was planned; put the old one back")
    return now


def _check_same(known: Known, size: int | None) -> None:
    if size != known.size:
        raise DataError(
            f"file {known.path} had {known.size:,} bytes when its batch was planned and has {size or 0:,} now; files "
            "must be whole when they appear: write them elsewhere, and rename them"
        )


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
        parse = pajson.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="ignore")
        if file.size():
            table = pajson.read_json(file, parse_options=parse)
            yield from with_extracted(table, schema, columns).to_batches()


def _csv(source: Files, file: Any, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if not file.size():
        return
    read = pacsv.ReadOptions(block_size=_CSV_BYTES, use_threads=False)
    if not source.header:
        read.column_names = schema.names
    types = {field.name: field.type for field in schema}
    convert = pacsv.ConvertOptions(column_types=types, include_columns=list(columns), strings_can_be_null=True)
    convert.quoted_strings_can_be_null = False
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
