"""Rows as they come, made into exactly the columns and types their stream promised."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.admit.fits import why_not
from dovetail.engine.block.arrow_values import bare_values
from dovetail.engine.kernels import inspect_times
from dovetail.errors import DataError, nearest
from dovetail.model.nested import extracted, path_of
from dovetail.model.stream import Stream

_US_PER_UNIT = {"s": 1_000_000, "ms": 1_000}  # engine time is in microseconds
_FARTHEST_US = 1 << 60  # 36,000 years: sums of a time and some windows stay within 64 bits
_INT64 = np.dtype(np.int64)


def conform(stream: Stream, rows: pa.Table | pa.RecordBatch, columns: Sequence[str]) -> dict[str, pa.Array]:
    """The wanted columns, each one contiguous array of the declared type."""
    known = rows.schema
    if known.equals(stream.schema):
        return {name: _whole(rows.column(known.get_field_index(name))) for name in columns}
    arrays = {}
    for name in columns:
        at = known.get_field_index(name)
        path = path_of(stream.schema.field(name)) if at < 0 else ()
        inside = extracted(rows, path) if len(path) > 1 else None
        if inside is not None:
            arrays[name] = _typed(stream, name, _whole(inside))
            continue
        if at < 0:
            there = nearest(name, known.names).replace("it has", "they have", 1)
            raise DataError(f"rows pushed to stream {stream.name!r} have no column {name!r}; {there}")
        arrays[name] = _typed(stream, name, _whole(rows.column(at)))
    return arrays


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _typed(stream: Stream, name: str, array: pa.Array) -> pa.Array:
    wanted = stream.schema.field(name).type
    if array.type.equals(wanted):
        return array
    reason = why_not(array.type, wanted)
    if reason is not None:
        raise DataError(
            f"column {name!r} pushed to stream {stream.name!r} has type {array.type}, and needs {wanted}: {reason}"
        )
    try:
        return (array.cast(pa.string()) if array.type == pa.string_view() else array).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise DataError(
            f"column {name!r} pushed to stream {stream.name!r} has type {array.type}, and needs {wanted}: {error}"
        ) from error


@dataclass(frozen=True)
class Clock:
    """The event times of some rows, those without one left out, and what one look at them tells."""

    times: npt.NDArray[np.int64]
    smallest: int = 0
    largest: int = 0
    behind: int = 0  # how far the worst row lies behind an earlier one

    def where(self, keep: npt.NDArray[np.bool_]) -> "Clock":
        """The clock of some of the rows."""
        times = self.times[keep]
        return Clock(times, *inspect_times(times)) if len(times) else Clock(times)


def read_clock(stream: Stream, column: pa.Array) -> Clock:
    """Event times in microseconds; near the ends of 64 bits, such as "infinity", they leave no room for a window."""
    known = column if not column.null_count else column.drop_null()
    if not len(known):
        return Clock(np.empty(0, np.int64))
    unit = column.type.unit
    times = _in_us(known, unit)
    found = Clock(times, *inspect_times(times))
    if unit in _US_PER_UNIT:  # multiplied already: too large a time has overflowed
        _check_range(stream, unit, *inspect_times(bare_values(known, False, _INT64, 1))[:2])
    _check_range(stream, "us", found.smallest, found.largest)
    return found


def _check_range(stream: Stream, unit: str, smallest: int, largest: int) -> None:
    farthest = _FARTHEST_US // _US_PER_UNIT.get(unit, 1)
    if -farthest <= smallest and largest <= farthest:
        return
    bad = smallest if abs(smallest) > farthest else largest
    raise DataError(
        f"column {stream.time!r} pushed to stream {stream.name!r} holds the time {bad} {unit}; "
        "times lie within 36,000 years of 1970. Replace it by NULL, which is counted and left out."
    )


def times_us(array: pa.Array) -> npt.NDArray[np.int64]:
    """Event times without NULLs as microseconds; finer units are rounded down."""
    return _in_us(array, array.type.unit)


def _in_us(array: pa.Array, unit: str) -> npt.NDArray[np.int64]:
    times = bare_values(array, False, _INT64, 1)
    if unit == "us":
        return times
    return times // 1000 if unit == "ns" else times * _US_PER_UNIT[unit]


def without_null_times(columns: dict[str, pa.Array], time: str) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
    """The rows that have a time, and those that have none."""
    valid = pc.is_valid(columns[time])
    return (
        {name: array.filter(valid) for name, array in columns.items()},
        {name: array.filter(pc.invert(valid)) for name, array in columns.items()},
    )
