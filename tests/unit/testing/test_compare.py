import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dovetail.testing import assert_same_rows, assert_subset, ordered, same_rows

VALUES: list[tuple[pa.DataType, Any, Any]] = [
    (pa.float64(), 1.5, math.nan),
    (pa.list_(pa.float32()), [1.0, None], [math.nan]),
    (pa.struct({"a": pa.int8(), "b": pa.string()}), {"a": 1, "b": None}, {"a": 1, "b": "x"}),
    (pa.decimal128(10, 2), Decimal("1.50"), Decimal("1.51")),
    (pa.binary(), b"\x00", b""),
    (pa.map_(pa.string(), pa.int8()), [("a", 1)], [("b", 1)]),
]


@pytest.mark.parametrize(("type_", "one", "other"), VALUES)
def test_rows_are_compared_by_value_and_count(type_: pa.DataType, one: Any, other: Any) -> None:
    table = pa.table({"v": pa.array([one, other, None, one], type_)})
    assert same_rows(table.take([3, 2, 1, 0]), table)
    assert not same_rows(table.take([0, 1, 2]), table)
    assert not same_rows(table.take([0, 1, 1, 2]), table)
    assert_subset(table.take([1, 0]), table)
    with pytest.raises(AssertionError, match="1 row unexpected"):
        assert_subset(table.take([1, 1]), table)


def test_the_message_names_the_rows() -> None:
    actual, expected = pa.table({"v": [1, 1, 2]}), pa.table({"v": [2, 3]})
    with pytest.raises(AssertionError) as failure:
        assert_same_rows(actual, expected)
    assert str(failure.value).splitlines() == [
        "3 rows instead of 2",
        "1 row missing:",
        "  {'v': 3}",
        "2 rows unexpected:",
        "  {'v': 1} x 2",
    ]


def test_types_must_agree_too() -> None:
    with pytest.raises(AssertionError, match="schemas differ"):
        assert_same_rows(pa.table({"v": [1]}), pa.table({"v": [1.0]}))


def test_order_allows_ties() -> None:
    assert ordered(pa.table({"result_time": pa.array([], pa.timestamp("us"))}))
    assert ordered(pa.table({"result_time": [1, 1, 2]}))
    assert not ordered(pa.table({"result_time": [1, 2, 1]}))
