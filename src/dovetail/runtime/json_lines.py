"""JSON lines as columns, decoded by Arrow.

Arrow's reader would take a time without an offset for one in UTC, leave out an offset where the column has no zone, and
refuse dates. So times and dates are read as text and cast, which takes exactly what fits.
"""

from typing import Any

import pyarrow as pa
import pyarrow.json as pajson


def json_columns(lines: Any, schema: pa.Schema, newlines_in_values: bool = False) -> pa.Table:
    """The columns of a schema; a field that a line lacks is NULL, and others are left out."""
    read = pa.schema([field.with_type(_read_as(field.name, field.type)) for field in schema])
    parse = pajson.ParseOptions(read, newlines_in_values, unexpected_field_behavior="ignore")
    found = pajson.read_json(lines, parse_options=parse)
    return found if read.equals(schema) else found.cast(schema)


def _read_as(name: str, type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        return pa.string()
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_read_as(name, field.type)) for field in type_])
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_read_as(name, type_.value_type)))
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        raise pa.ArrowInvalid(f"column {name!r} needs bytes, and JSON has none; declare it as text")
    return type_
