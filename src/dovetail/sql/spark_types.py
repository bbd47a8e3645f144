"""Column types as Spark SQL writes them, read into the Arrow types that Spark hands over for them.

DECIMAL(9, 2)                       ->   decimal128(9, 2)
ARRAY<STRUCT<a: INT, b: STRING>>    ->   list of struct(a: int32, b: string)
TIMESTAMP                           ->   timestamp[us, UTC]; TIMESTAMP_NTZ is one without a zone
"""

import pyarrow as pa

from dovetail.errors import QueryError, nearest
from dovetail.sql.place import Span
from dovetail.sql.reader import Reader

_SIMPLE = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "BYTE": pa.int8(),
    "SMALLINT": pa.int16(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "REAL": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
    "TIMESTAMP_LTZ": pa.timestamp("us", tz="UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
}
_DECIMAL = ("DECIMAL", "DEC", "NUMERIC")
_KNOWN = [*_SIMPLE, "DECIMAL", "ARRAY", "MAP", "STRUCT"]
_DEEPEST = 50  # Python's stack holds it, and no real schema has it


def read_type(reader: Reader, depth: int = 0) -> pa.DataType:
    """The type that comes next; QueryError if it is none."""
    start, written = reader.at, reader.name("a type such as STRING, DOUBLE or TIMESTAMP")
    name = written.upper()
    if depth > _DEEPEST:
        raise reader.source.error("the type is nested too deeply", reader.since(start))
    if name in _SIMPLE:
        return _SIMPLE[name]
    if name in _DECIMAL:
        return _decimal(reader, start)
    if name in ("ARRAY", "MAP", "STRUCT"):
        reader.needs("<")
        made = _nested(reader, name, depth + 1)
        reader.needs(">")
        return made
    raise _unknown(reader, written, reader.since(start))


def _nested(reader: Reader, name: str, depth: int) -> pa.DataType:
    if name == "ARRAY":
        return pa.list_(pa.field("element", read_type(reader, depth)))
    if name == "STRUCT":
        fields = [_field(reader, depth)]
        while reader.takes(","):
            fields.append(_field(reader, depth))
        return pa.struct(fields)
    key = read_type(reader, depth)
    reader.needs(",")
    return pa.map_(key, pa.field("value", read_type(reader, depth)))


def _field(reader: Reader, depth: int) -> pa.Field:
    name = reader.name("the name of a field")
    reader.takes(":")
    return pa.field(name, read_type(reader, depth))


def _decimal(reader: Reader, start: int) -> pa.DataType:
    """As in Spark, DECIMAL alone has 10 digits, none of them after the point."""
    if not reader.takes("("):
        return pa.decimal128(10, 0)
    digits = _digits(reader)
    scale = _digits(reader) if reader.takes(",") else 0
    reader.needs(")")
    if not 1 <= digits <= 38 or scale > digits:
        message = "a DECIMAL has 1 to 38 digits, and no more of them after the point"
        raise reader.source.error(message, reader.since(start))
    return pa.decimal128(digits, scale)


def _digits(reader: Reader) -> int:
    start, written = reader.at, reader.number("a number of digits")
    if not (written.isascii() and written.isdecimal() and len(written) <= 2):
        raise reader.source.error("a number of digits is 0 to 38", reader.since(start))
    return int(written)


def _unknown(reader: Reader, written: str, span: Span) -> QueryError:
    tail = nearest(written, _KNOWN).replace("it has", "there is", 1)
    return reader.source.error(f"there is no type {written}; {tail}", span)
