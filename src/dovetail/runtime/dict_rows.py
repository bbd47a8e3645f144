"""Rows as a list of dicts, column by column: each value is what its column needs, or the error names it.

    [{"ts": datetime(2026, 1, 1), "k": 1}, {"ts": datetime(2026, 1, 2), "k": 1.5}]
        ->   rows[1] pushed to stream 'T': column 'k' needs int64, and got 1.5: ...

None is NULL. The time, and what a condition tests, must be in every row; other columns may be left out and are NULL.
Text is parsed as in every other form of rows. A time may also be a whole number, in the unit of its column, from 1970.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.admit.fits import is_list, kind_of, why_not
from dovetail.errors import DataError, nearest
from dovetail.model.nested import plain_schema, tops
from dovetail.model.stream import Stream

_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_COARSER = {"ms": "seconds", "us": "milliseconds", "ns": "microseconds"}
_YEAR_2001_S, _YEAR_2100_S = 978_307_200, 4_102_444_800  # what people mean when they count from 1970


def from_dicts(stream: Stream, rows: Sequence[Any], needed: Collection[str]) -> pa.Table:
    """The rows as a table of the stream's columns; DataError names the row and column that do not fit."""
    schema = plain_schema(stream.schema)
    _check_rows(stream, rows, tops(stream.schema, needed))
    columns = {field.name: [row.get(field.name) for row in rows] for field in schema}
    arrays = [_column(stream, field, columns[field.name]) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _check_rows(stream: Stream, rows: Sequence[Any], needed: Collection[str]) -> None:
    names = plain_schema(stream.schema).names
    known, read = set(names), set(needed)
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(
                f"rows for stream {stream.name!r} hold a {type(row).__name__}; each row of a list is a dict"
            )
        if not row.keys() <= known:
            unknown = next(key for key in row if key not in known)
            tail = nearest(unknown, names)
            raise DataError(f"stream {stream.name!r} has no column {unknown!r}; {tail}")
        if not read <= row.keys():
            missing = next(name for name in names if name in read and name not in row)
            raise DataError(
                f"rows[{at}] pushed to stream {stream.name!r} has no column {missing!r}, which the join needs; "
                f"{nearest(missing, row)} Write None for NULL."
            )


def _column(stream: Stream, field: pa.Field, values: list[Any]) -> pa.Array:
    """All values at once; one by one only to find out which does not fit."""
    try:
        return _array(values, field.type)
    except (DataError, pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        whole = error
    for at, value in enumerate(values):
        try:
            _array([value], field.type)
        except (DataError, pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"rows[{at}] pushed to stream {stream.name!r}: column {field.name!r} needs {field.type}, and got "
                f"{value!r}: {error}"
            ) from None
    raise DataError(
        f"rows pushed to stream {stream.name!r}: column {field.name!r} needs {field.type}, and its values are of "
        f"different types: {whole}"
    ) from None


def _array(values: list[Any], wanted: pa.DataType) -> pa.Array:
    _check_mixed(values, wanted)
    found = pa.infer_type(values)
    if pa.types.is_timestamp(wanted):
        if kind_of(found) == "whole number":
            return _counted(values, wanted)
        _check_zones(values, wanted)
    reason = why_not(found, wanted)
    if reason is not None:
        raise DataError(reason)
    kind = kind_of(found)
    if kind == "text" or (kind in ("float", "decimal", "date") and kind_of(wanted) != "decimal"):
        return pa.array(values, found).cast(wanted)
    if pa.types.is_struct(wanted):
        _check_fields(values, wanted)
    if is_list(found) and is_list(wanted) and kind_of(wanted.value_type) == "whole number":
        pa.array(values, found).cast(pa.list_(wanted.value_type))
    return pa.array(values, wanted)


def _check_fields(values: list[Any], wanted: pa.StructType) -> None:
    """Each field of nested rows is what it needs to be, as a column is."""
    for field in wanted:
        _array([value.get(field.name) if isinstance(value, dict) else None for value in values], field.type)


def _check_mixed(values: list[Any], wanted: pa.DataType) -> None:
    """Arrow would take a truth value among numbers for 1, and a number among times for microseconds."""
    kinds = set(map(type, values)) - {type(None)}
    words = set(map(_word, kinds))
    alone = {"truth value", "bytes"} | ({"number"} if pa.types.is_timestamp(wanted) else set())
    if len(words) > 1 and words & alone:
        raise DataError(f"got {', '.join(sorted(kind.__name__ for kind in kinds))}")


def _word(kind: type) -> str:
    if issubclass(kind, bool | np.bool_):
        return "truth value"
    return "number" if issubclass(kind, Number) else "bytes" if issubclass(kind, bytes) else "other"


def _check_zones(values: list[Any], wanted: pa.DataType) -> None:
    """Times with and without a zone are never mixed: Arrow would take all for those of the first."""
    zoned = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
    if zoned and zoned != {wanted.tz is not None}:
        raise DataError(why_not(pa.timestamp("us", None if wanted.tz else "UTC"), wanted))


def _counted(values: list[Any], wanted: pa.DataType) -> pa.Array:
    """Whole numbers in the unit of the column, unless they look like the present in a coarser one."""
    times = pa.array(values, pa.int64())
    unit = wanted.unit
    per = _PER_SECOND[unit] // 1000
    if unit in _COARSER and len(times):
        likely = pc.and_(pc.greater_equal(times, _YEAR_2001_S * per), pc.less(times, _YEAR_2100_S * per))
        if pc.any(likely).as_py():
            raise DataError(
                f"whole numbers are {_UNITS[unit]} since 1970 here, which makes this a day in early 1970, and it looks "
                f"like {_COARSER[unit]}; multiply by 1000, or give a datetime"
            )
    return times.cast(wanted)
