"""Fields inside of structures as columns of their own, so that only what is asked for is read, moved and stored.

    p: struct<id: int64, at: struct<lat: double, lon: double>>      A.p.id     ->   column "p.id" of A
                                                                    A.p.at.lat ->   column "p.at.lat"

A query's streams have such columns in their schema, behind those of the user's rows and marked with their path. Where
the structure is NULL, so are its fields.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

_PATH = b"dovetail.path"
Rows: TypeAlias = pa.Table | pa.RecordBatch


def path_of(field: pa.Field) -> tuple[str, ...]:
    """The names that lead to a column's values: its own, or for a field that of the structure first."""
    marked = (field.metadata or {}).get(_PATH)
    return (field.name,) if marked is None else tuple(json.loads(marked))


def leaf(schema: pa.Schema, name: str) -> pa.Field | None:
    """The field of a structure that a name with points stands for; None if there is no such field."""
    return next((_marked(name, path, type_) for path, type_ in _inside(schema, (), name)), None)


def _marked(name: str, path: Sequence[str], type_: pa.DataType) -> pa.Field:
    return pa.field(name, type_, metadata={_PATH: json.dumps(path)})


def _inside(fields: Iterable[pa.Field], before: tuple[str, ...], name: str) -> Iterable[tuple[tuple[str, ...], Any]]:
    for field in fields:
        here = (*before, field.name)
        if before and field.name == name:
            yield here, field.type
        elif pa.types.is_struct(field.type) and name.startswith(f"{field.name}.") and len(path_of(field)) == 1:
            yield from _inside(field.type, here, name[len(field.name) + 1 :])


def with_fields(schema: pa.Schema, names: Iterable[str]) -> pa.Schema:
    """The schema with a column for each name of a field that it has none for yet."""
    found = [leaf(schema, name) for name in sorted(set(names) - set(schema.names))]
    for field in found:
        schema = schema if field is None else schema.append(field)
    return schema


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of the user's rows."""
    return pa.schema([field for field in schema if len(path_of(field)) == 1])


def tops(schema: pa.Schema, names: Iterable[str]) -> list[str]:
    """The columns of the user's rows that some columns are taken from, each once."""
    return list(dict.fromkeys(path_of(schema.field(name))[0] for name in names))


def extracted(rows: Rows, path: Sequence[str]) -> pa.Array | pa.ChunkedArray | None:
    """The values of a field in the user's rows; None if they have no such structure."""
    at = rows.schema.get_field_index(path[0])
    if at < 0:
        return None
    try:
        return pc.struct_field(rows.column(at), list(path[1:]))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, KeyError):
        return None


def with_extracted(rows: Rows, schema: pa.Schema, names: Sequence[str]) -> Rows:
    """These columns of the rows, fields of structures among them; rows that lack one are left as they are."""
    columns = [
        rows[name] if name in rows.schema.names else extracted(rows, path_of(schema.field(name))) for name in names
    ]
    if any(column is None for column in columns):
        return rows
    return type(rows).from_arrays(columns, names=list(names))
