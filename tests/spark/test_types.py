from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as spark_types

import dovetail as dv
from dovetail.errors import StreamError
from dovetail.runtime.spark.types import arrow_schema, spark_schema

TIME = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
VALUES: dict[str, tuple[pa.DataType, Any]] = {
    "flag": (pa.bool_(), True),
    "byte": (pa.int8(), -7),
    "short": (pa.int16(), -300),
    "int": (pa.int32(), 70_000),
    "long": (pa.int64(), -(2**62)),
    "float": (pa.float32(), 0.5),
    "double": (pa.float64(), 0.1),
    "text": (pa.string(), "naïve ☃"),
    "bytes": (pa.binary(), b"\x00\xff"),
    "day": (pa.date32(), date(2026, 2, 3)),
    "instant": (pa.timestamp("us", tz="UTC"), TIME),
    "local": (pa.timestamp("us"), TIME.replace(tzinfo=None)),
    "span": (pa.duration("us"), timedelta(days=1, microseconds=5)),
    "price": (pa.decimal128(20, 3), Decimal("12345678901234567.891")),
    "a list": (pa.list_(pa.int32()), [1, None, 3]),
    "a `quoted` map": (pa.map_(pa.string(), pa.int64()), [("x", 1), ("y", None)]),
    "dotted.struct": (pa.struct({"a b": pa.float64(), "c": pa.list_(pa.string())}), {"a b": 1.5, "c": ["z"]}),
}


def table_of_all_types() -> pa.Table:
    columns = {name: pa.array([value, None, value], type_) for name, (type_, value) in VALUES.items()}
    return pa.table({"ts": pa.array([TIME] * 3, pa.timestamp("us", tz="UTC")), "k": [1, 2, 1], **columns})


def test_schemas_survive_the_way_there_and_back() -> None:
    schema = table_of_all_types().schema
    there = spark_schema(schema)
    back = arrow_schema(there)
    assert back.names == schema.names
    assert spark_schema(back) == there
    assert [spark_schema(pa.schema([field])).fields[0].dataType for field in schema] == [f.dataType for f in there]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (pa.uint8(), spark_types.ShortType()),
        (pa.uint64(), spark_types.DecimalType(20, 0)),
        (pa.large_string(), spark_types.StringType()),
        (pa.dictionary(pa.int8(), pa.string()), spark_types.StringType()),
        (pa.list_(pa.float64(), 3), spark_types.ArrayType(spark_types.DoubleType())),
        (pa.timestamp("ns"), spark_types.TimestampNTZType()),
        (pa.date64(), spark_types.DateType()),
        (pa.float16(), spark_types.FloatType()),
    ],
)
def test_types_that_spark_lacks_become_the_next_larger(type_: pa.DataType, expected: spark_types.DataType) -> None:
    assert spark_schema(pa.schema([("c", type_)])).fields[0].dataType == expected


def test_a_type_that_arrow_lacks_is_named_with_its_column() -> None:
    odd = spark_types.StructType().add("when", spark_types.ArrayType(spark_types.YearMonthIntervalType()))
    with pytest.raises(
        StreamError, match=r"column 'when' has the type array<interval.*cast it, or leave the column out"
    ):
        arrow_schema(odd)


def test_a_type_that_spark_lacks_says_so() -> None:
    with pytest.raises(StreamError, match="Spark has no type for Arrow's time64"):
        spark_schema(pa.schema([("c", pa.time64("us"))]))


def test_values_of_every_type_come_through_unchanged(spark: Any) -> None:
    table = table_of_all_types()
    left = dv.stream("L", spark.createDataFrame(table, spark_schema(table.schema)), time="ts", window="1 second")
    right = dv.stream("R", pa.table({"ts": table["ts"].slice(0, 1), "k": [1]}), time="ts", window="1 second")
    query = dv.join(left, right, on="L.k = R.k")
    rows = query.spark().toArrow()
    assert rows.column_names[:2] == ["result_time", "L_ts"]
    for name, (_, value) in VALUES.items():
        assert rows[f"L_{name}"].to_pylist() == [value, value], name
