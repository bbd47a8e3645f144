"""What messages hold, as columns: whole batches of values are decoded at once.

    json        the values are lines of one text
    avro        the values are the rows of one block of an Avro file, behind a header that is made here
    protobuf    a library made for it turns them into Arrow

A schema registry's header is five bytes, a zero and the number of the schema; before Protobuf the place of the message
in its file follows, of which only the first is understood.
"""

import io
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from dovetail.errors import DataError, PlanError
from dovetail.model.kafka import Kafka
from dovetail.runtime.json_lines import json_columns

_SYNC = bytes(16)


def columns_of(source: Kafka, values: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    """The values as a table with the columns of the schema, or more; DataError if they cannot be read so."""
    if source.framed:
        values = _bare(source, values)
    try:
        return _DECODERS[source.format](source, values, schema)
    except (pa.ArrowException, ValueError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"values of topic {source.topic!r} cannot be read as {source.format}: {reason}") from error


def _json(source: Kafka, values: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    return json_columns(pa.BufferReader(b"\n".join(values)), schema, newlines_in_values=True)


def _avro(source: Kafka, values: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    try:
        import polars
    except ImportError as error:
        raise PlanError("Avro is decoded with polars; pip install 'dovetail[kafka]'") from error
    try:
        return polars.read_avro(io.BytesIO(_avro_file(str(source.value_schema), values))).to_arrow()
    except polars.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error


def _avro_file(schema: str, values: Sequence[bytes]) -> bytes:
    """An Avro file of one block with these rows."""
    named = {b"avro.schema": json.dumps(json.loads(schema)).encode(), b"avro.codec": b"null"}
    header = b"".join(_long(len(part)) + part for pair in named.items() for part in pair)
    rows = b"".join(values)
    block = _long(len(values)) + _long(len(rows)) + rows
    return b"Obj\x01" + _long(len(named)) + header + _long(0) + _SYNC + block + _SYNC


def _long(number: int) -> bytes:
    """A number of no sign as Avro writes it: doubled, seven bits at a time."""
    number, digits = number << 1, bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def _protobuf(source: Kafka, values: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    handler = _protobuf_handler(source.value_schema, source.message)
    return pa.Table.from_batches([handler.list_to_record_batch(list(values))])


@lru_cache(maxsize=16)
def _protobuf_handler(described: bytes, message: str) -> Any:
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool
        from ptars import HandlerPool, PtarsConfig
    except ImportError as error:
        raise PlanError("Protobuf is decoded with ptars; pip install 'dovetail[kafka]'") from error
    pool, files = descriptor_pool.DescriptorPool(), descriptor_pb2.FileDescriptorSet.FromString(described).file
    for file in files:
        pool.Add(file)
    config = PtarsConfig(timestamp_unit="us", timestamp_tz="UTC")
    handlers = HandlerPool([pool.FindFileByName(file.name) for file in files], config)
    return handlers.get_for_message(pool.FindMessageTypeByName(message))


def _bare(source: Kafka, values: Sequence[bytes]) -> list[bytes]:
    """The values without a schema registry's header."""
    heads, length = {value[:5] for value in values}, 6 if source.format == "protobuf" else 5
    if any(len(head) < 5 or head[0] for head in heads):
        raise DataError(f"values of topic {source.topic!r} do not begin with a schema registry's header; framed=False?")
    if len(heads) > 1:
        numbers = ", ".join(str(int.from_bytes(head[1:], "big")) for head in sorted(heads))
        raise DataError(f"values of topic {source.topic!r} have several schemas ({numbers}), and value_schema is one")
    if source.format == "protobuf" and any(value[5:6] != b"\x00" for value in values):
        raise DataError(f"values of topic {source.topic!r} are not the first message of their schema, as is needed")
    return [value[length:] for value in values]


_DECODERS: dict[str, Callable[[Kafka, Sequence[bytes], pa.Schema], pa.Table]] = {
    "json": _json,
    "avro": _avro,
    "protobuf": _protobuf,
}
