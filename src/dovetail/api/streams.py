"""A named input: data now, or a schema for rows that are pushed later."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal

import pyarrow as pa

from dovetail.errors import DataError, StreamError
from dovetail.model.asof import AsOf
from dovetail.model.collation import BY_BYTES, as_metadata, collation_of
from dovetail.model.dedup import Dedup
from dovetail.model.duration import duration_us
from dovetail.model.kafka import Kafka
from dovetail.model.sources import Source
from dovetail.model.stream import Stream
from dovetail.model.window import Window
from dovetail.runtime.rows import arrow_of


def stream(
    name: str,
    data: Any = None,
    *,
    time: str,
    window: str | timedelta | Window | None = None,
    delay: str | timedelta = "0 seconds",
    idle: str | timedelta | None = None,
    ahead: str | timedelta | None = None,
    asof: AsOf | None = None,
    dedup: str | Sequence[str] | Dedup | None = None,
    match: Literal["first", "last", "nearest"] | None = None,
    schema: pa.Schema | None = None,
) -> Stream:
    """A named input: data now, or a ``schema`` for rows that are pushed later.

    Data is a Spark DataFrame, an Arrow table, batch or reader, a pandas or Polars frame, a DuckDB relation, or
    ``dovetail.files`` or ``dovetail.kafka``, which need a ``schema`` as well where it is not in the data.
    ``ahead`` refuses rows that lie further than this ahead of everything seen so far; without it one row with a wrong
    time far in the future makes all that follow late. With ``asof=dovetail.asof(...)`` only its best row for each row
    of the stream that has no ``asof`` counts; with ``match`` only the first, last or nearest of the rows that a row of
    the other stream can be joined with. ``dedup`` names the columns of an id, for a source that sends rows at least
    once: of rows with the same id inside the window the first to come stays.

    >>> import dovetail as dv, pyarrow as pa
    >>> t = dv.stream("T", time="ts", window="1 minute", schema=pa.schema({"ts": pa.timestamp("us"), "v": pa.int64()}))
    >>> t.name, str(t.window)
    ('T', '1 minute')
    """
    if not isinstance(name, str) or not name:
        raise StreamError(f"a stream needs a name, not {name!r}")
    data = as_data(name, data)
    delay_us = _as_duration(name, "delay", delay)
    idle_us = None if idle is None else _as_duration(name, "idle", idle)
    ahead_us = None if ahead is None else _as_duration(name, "ahead", ahead)
    kept: Any = window
    made: Any = {"ahead_us": ahead_us, "asof": asof, "dedup": dedup, "match": match}
    return Stream(name, _as_schema(name, data, schema), time, kept, delay_us, idle_us, data, **made)


def as_data(name: str, data: Any) -> Any:
    """Spark DataFrames as they are; what exports Arrow becomes Arrow now, so that a reader is read once only."""
    if data is None or isinstance(data, Source) or type(data).__module__.startswith("pyspark."):
        return data
    try:
        table = arrow_of(data)
    except DataError as error:
        raise StreamError(f"stream {name!r}: {error}") from error
    return data if table is None else table


def _as_schema(name: str, data: Any, schema: pa.Schema | None) -> pa.Schema:
    """The Arrow schema of a stream, from its data or as given."""
    if data is None:
        if schema is None:
            raise StreamError(f"stream {name!r} has neither data nor a schema; give one of them")
        if not isinstance(schema, pa.Schema):
            raise StreamError(f"stream {name!r}: schema is a {type(schema).__name__}; give a pyarrow.Schema")
        found = schema
    elif isinstance(data, Source) and (schema is None or isinstance(schema, pa.Schema)):
        found = schema if schema is not None else _schema_of(name, data)
    elif schema is not None:
        raise StreamError(f"stream {name!r} has both data and a schema; data has a schema of its own")
    elif type(data).__module__.startswith("pyspark."):
        from dovetail.runtime.spark.types import arrow_schema

        found = arrow_schema(data.schema, data.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC")
    elif isinstance(data, pa.Table | pa.RecordBatch):
        found = data.schema
    else:
        raise StreamError(
            f"stream {name!r}: data is a {type(data).__name__}; give a Spark DataFrame, an Arrow table, "
            "a pandas or Polars frame, a DuckDB relation, files(...), kafka(...), or nothing and a schema"
        )
    kept = [field for field in found if not field.name.startswith("__index_level_")]
    collations = [as_metadata(collation_of(field) or BY_BYTES) for field in kept]
    plain = [
        pa.field(field.name, _plain(field.type), metadata=collation)
        for field, collation in zip(kept, collations, strict=True)
    ]
    return pa.schema(plain)


def _schema_of(name: str, source: Source) -> pa.Schema:
    from dovetail.runtime.files.decode import first_schema

    if isinstance(source, Kafka):
        raise StreamError(f"stream {name!r} reads a topic, which does not tell its columns; give schema= as well")
    try:
        return first_schema(source)
    except DataError as error:
        raise StreamError(f"stream {name!r}: {error}") from error


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type of the values, without an encoding that only saves space on the way."""
    if pa.types.is_dictionary(type_):
        return type_.value_type
    if pa.types.is_run_end_encoded(type_):
        return type_.value_type
    if type_ == pa.string_view():
        return pa.string()
    return pa.binary() if type_ == pa.binary_view() else type_


def _as_duration(name: str, option: str, value: str | timedelta) -> int:
    try:
        return duration_us(value)
    except ValueError as error:
        raise StreamError(f"stream {name!r}: {option} {error}") from error
