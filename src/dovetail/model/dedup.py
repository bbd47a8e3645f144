"""Repeats of a stream that sends rows at least once: which rows are the same, and for how long that is remembered."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa

from dovetail.errors import StreamError, nearest
from dovetail.model.duration import duration_text, duration_us


@dataclass(frozen=True)
class Dedup:
    """Rows that agree in ``columns``, the id, are repeats if their times are at most ``within_us`` apart.

    A query fills in what its streams leave open: ``within_us`` is the window, and ``compared`` has the columns of the
    id and those that conditions between streams are about. So repeats meet wherever rows are dealt out by their keys.
    """

    columns: tuple[str, ...]
    within_us: int | None = None
    compared: tuple[str, ...] = ()

    def __str__(self) -> str:
        within = "" if self.within_us is None else f" within {duration_text(self.within_us)}"
        return f"{', '.join(self.columns)}{within}"


def dedup(*columns: str, within: str | timedelta | None = None) -> Dedup:
    """For ``stream(..., dedup=...)``: the columns of the id, and for how long a row is remembered.

    Without ``within`` it is remembered for its stream's window; a window of rows and an as-of join need it.

    >>> import dovetail as dv
    >>> str(dv.dedup("device", "number", within="10 minutes"))
    'device, number within 10 minutes'
    """
    try:
        return Dedup(columns, None if within is None else duration_us(within))
    except ValueError as error:
        raise StreamError(f"dedup: within {error}") from error


def as_dedup(value: Any) -> Dedup | None:
    """What a stream's ``dedup`` stands for: a column, several, or what ``dedup`` made."""
    if value is None or isinstance(value, Dedup):
        return value
    if isinstance(value, str):
        return Dedup((value,))
    return Dedup(tuple(value) if isinstance(value, Iterable) else (value,))


def check_dedup(name: str, schema: pa.Schema, found: Dedup) -> None:
    """StreamError unless the id is of columns whose values can be compared."""
    if not found.columns:
        raise StreamError(f"stream {name!r}: dedup names no column; name those that are the same in a repeat")
    for column in found.columns:
        if not isinstance(column, str) or column not in schema.names:
            raise StreamError(f"stream {name!r}: dedup: there is no column {column!r}; {nearest(column, schema.names)}")
        if not comparable(schema.field(column).type):
            raise StreamError(
                f"stream {name!r}: dedup: column {column!r} has type {schema.field(column).type}, whose values are not "
                "compared; name columns of simple values"
            )
    within = found.within_us
    if within is not None and (isinstance(within, bool) or not isinstance(within, int) or within < 0):
        raise StreamError(f"stream {name!r}: dedup: within is a whole number of microseconds, 0 or more")


def comparable(type_: pa.DataType) -> bool:
    """Whether equal values of this type are told by their bytes."""
    return not pa.types.is_nested(type_) and not pa.types.is_null(type_)
