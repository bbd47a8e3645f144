"""A table beside streams: rows that are the same at all times, or versions of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from dovetail.api.streams import as_data, stream
from dovetail.errors import StreamError
from dovetail.model.asof import AsOf
from dovetail.model.duration import duration_us
from dovetail.model.sources import Source
from dovetail.model.stream import Stream
from dovetail.model.table import ALWAYS, ALWAYS_US, Table, as_key


def table(
    name: str,
    data: Any = None,
    *,
    key: str | Sequence[str] = (),
    time: str | None = None,
    ready: str | datetime | None = None,
    delay: str | timedelta = "0 seconds",
    ttl: str | timedelta | None = None,
    schema: pa.Schema | None = None,
) -> Stream:
    """A table: each row of the stream that it is joined with meets the row of its key that is valid at its time.

    ``time`` is the column from which on a version is valid, until the next one of its ``key``; without it rows are
    valid at all times, and the data must be here and come to an end. Rows of other streams wait until the table is
    loaded: data that come to an end are loaded at once, versions that are pushed or that stream when they have come to
    the time ``ready``. From then on a version counts if it comes before the other streams are ``delay`` past its time.
    A version is valid for ``ttl`` at most, and is forgotten then; without it the last one of every key stays.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "sku": pa.int64()})
    >>> prices = dv.table("P", pa.table({"sku": [7], "price": [9.5]}), key="sku")
    >>> run = dv.join(dv.stream("O", time="ts", schema=schema), prices, on="O.sku = P.sku", select="P.price").local()
    >>> run.push("O", [{"ts": 5, "sku": 7}, {"ts": 6, "sku": 8}])["price"].to_pylist()
    [9.5]
    """
    data = as_data(name, data)
    if time is None:
        if ttl is not None:
            raise StreamError(
                f"table {name!r}: ttl={ttl!r} is how long a version is valid; say from when on, with time="
            )
        if ready is not None:
            raise StreamError(
                f"table {name!r}: ready={ready!r} is for versions that come in time; this one has no time=, and is "
                "loaded before the first row. Leave it out"
            )
        data, time = _always(name, data), ALWAYS
    made = stream(name, data, time=time, delay=delay, schema=schema, asof=AsOf(tolerance_us=_lifetime(name, ttl)))
    ready_us = None if ready is None else _moment(name, ready, made.time_type)
    return replace(made, table=Table(as_key(key), ready_us))


def _always(name: str, data: Any) -> Any:
    """The data with a time before all others."""
    if isinstance(data, pa.Table | pa.RecordBatch):
        times = pa.array([ALWAYS_US] * data.num_rows, pa.int64()).cast(pa.timestamp("us"))
        return pa.table(data).append_column(ALWAYS, times)
    if data is not None and not isinstance(data, Source) and not data.isStreaming:
        from dovetail.runtime.spark.types import with_time

        return with_time(data, ALWAYS, ALWAYS_US)
    raise StreamError(
        f"table {name!r} has no time=, so its rows are valid at all times and must be here when it is made: give data "
        "that come to an end, or say with time= from when on a version is valid"
    )


def _lifetime(name: str, ttl: Any) -> int | None:
    try:
        return None if ttl is None else duration_us(ttl)
    except ValueError as error:
        raise StreamError(f"table {name!r}: ttl {error}") from error


def _moment(name: str, ready: Any, type_: pa.DataType) -> int:
    """A time as microseconds, in the zone of the table's times."""
    try:
        given = datetime.fromisoformat(ready) if isinstance(ready, str) else ready
        if not isinstance(given, datetime) or (given.tzinfo is None) is not (type_.tz is None):
            raise ValueError
        return int(pa.scalar(given, pa.timestamp("us", tz=type_.tz)).value)
    except ValueError as error:
        raise StreamError(
            f"table {name!r}: ready={ready!r}: give a datetime, or text like '2026-07-01 09:30:00', with a zone if the "
            f"table's times have one ({type_})"
        ) from error
