"""Columns of every type against Arrow: append, move, take, slice, whatever comes in which order."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.engine.buffer.columns import FixedColumn, NestedColumn, TextColumn, column_for

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [1, -128, None],
    pa.int16(): [1, -5, None],
    pa.int32(): [1, 2**31 - 1, None],
    pa.int64(): [1, -(2**63), None],
    pa.uint8(): [1, 255, None],
    pa.uint64(): [1, 2**64 - 1, None],
    pa.float16(): [np.float16(0.5), np.float16(-2), None],
    pa.float32(): [0.5, -1.0, None],
    pa.float64(): [0.1, float("inf"), None],
    pa.bool_(): [True, False, None],
    pa.date32(): [date(2024, 2, 29), date(1960, 1, 1), None],
    pa.date64(): [date(2024, 2, 29), date(1960, 1, 1), None],
    pa.time64("us"): [time(1, 2, 3), time(0), None],
    pa.duration("ms"): [timedelta(seconds=1), timedelta(0), None],
    pa.timestamp("s"): [datetime(2024, 1, 1), datetime(1960, 1, 1), None],
    pa.timestamp("ns", "Europe/Vienna"): [datetime(2024, 1, 1), datetime(1990, 1, 1), None],
    pa.decimal128(10, 2): [Decimal("1.50"), Decimal("-0.01"), None],
    pa.decimal128(38, 0): [Decimal(10**37), Decimal(-1), None],
    pa.decimal256(60, 0): [Decimal(10**59), Decimal(-1), None],
    pa.binary(3): [b"abc", b"\x00\x01\x02", None],
    pa.string(): ["a", "", "\u00e9\u00e8", None],
    pa.large_string(): ["a", "", "long " * 20, None],
    pa.binary(): [b"", b"\x00", None],
    pa.large_binary(): [b"", b"\x00", None],
    pa.list_(pa.int64()): [[1, None], [], None],
    pa.list_(pa.float32(), 2): [[1.0, 2.0], [3.0, None], None],
    pa.large_list(pa.string()): [["a"], [], None],
    pa.struct({"x": pa.int64(), "y": pa.string()}): [{"x": 1, "y": None}, {"x": None, "y": "b"}, None],
    pa.map_(pa.string(), pa.int64()): [[("a", 1)], [], None],
    pa.null(): [None],
    pa.month_day_nano_interval(): [pa.MonthDayNano([1, 2, 3]), None],
}
EACH = pytest.mark.parametrize("type_", VALUES, ids=str)


@EACH
def test_the_column_that_stores_a_type_best(type_: pa.DataType) -> None:
    nested = pa.types.is_nested(type_) or pa.types.is_null(type_) or type_ == pa.month_day_nano_interval()
    text = pa.types.is_binary(type_) or pa.types.is_string(type_) or str(type_).startswith("large_")
    wanted = NestedColumn if nested else TextColumn if text else FixedColumn
    assert type(column_for(type_)) is wanted


@EACH
@settings(max_examples=12)
@given(st.data())
def test_a_column_is_like_an_arrow_array(type_: pa.DataType, data: st.DataObject) -> None:
    column, twin, capacity = column_for(type_), pa.array([], type_), 0
    for _ in range(data.draw(st.integers(1, 6))):
        if data.draw(st.booleans()):
            start = data.draw(st.integers(0, len(twin)))
            capacity = max(data.draw(st.sampled_from([capacity, 20, 40])), len(twin) - start)
            column.move(start, len(twin), capacity)
            twin = twin.slice(start)
        fresh = drawn_array(type_, data)
        if len(twin) + len(fresh) > capacity:
            capacity = len(twin) + len(fresh) + data.draw(st.integers(0, 3))
            column.move(0, len(twin), capacity)
        column.append(fresh, len(twin))
        twin = pa.concat_arrays([twin, fresh])
        check(column, twin, data)


def drawn_array(type_: pa.DataType, data: st.DataObject) -> pa.Array:
    """Some values, as a slice in the middle of a larger array."""
    values = data.draw(st.lists(st.sampled_from(VALUES[type_]), max_size=6))
    before = data.draw(st.integers(0, 9))
    whole = pa.array([VALUES[type_][0]] * before + values + VALUES[type_][:1], type_)
    return whole.slice(before, len(values))


def check(column: Any, twin: pa.Array, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(twin)))
    stop = data.draw(st.integers(start, len(twin)))
    part = column.slice(start, stop)
    part.validate(full=True)
    assert part.type == twin.type
    assert part.to_pylist() == twin.slice(start, stop - start).to_pylist()
    slots = np.array(data.draw(st.lists(st.integers(0, len(twin) - 1), max_size=8)) if len(twin) else [], np.int64)
    taken = column.take(slots)
    taken.validate(full=True)
    assert taken.to_pylist() == twin.take(pa.array(slots)).to_pylist()
    assert column.nbytes >= 0
    assert column.bytes_at(slots) >= 0


def test_text_that_expires_gives_its_memory_back() -> None:
    column = TextColumn(pa.string())
    column.move(0, 0, 1000)
    column.append(pa.array(["x" * 1000] * 1000), 0)
    assert column.nbytes > 1_000_000
    column.move(999, 1000, 1000)
    assert column.nbytes < 20_000
    assert column.slice(0, 1).to_pylist() == ["x" * 1000]


def test_nested_values_that_expire_give_their_memory_back() -> None:
    column = NestedColumn(pa.list_(pa.int64()))
    before = pa.total_allocated_bytes()
    column.append(pa.array([list(range(1000))] * 1000), 0)
    column.move(999, 1000, 1000)
    assert column.slice(0, 1).to_pylist() == [list(range(1000))]
    assert pa.total_allocated_bytes() - before < 100_000
