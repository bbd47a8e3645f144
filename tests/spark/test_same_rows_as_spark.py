"""The files that Spark's own reader reads give the same rows when Dovetail reads them."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.runtime.spark.types import spark_schema
from dovetail.testing import assert_same_rows

PLAIN = {
    "ts": pa.timestamp("us", "UTC"),
    "id": pa.int64(),
    "text": pa.string(),
    "x": pa.float64(),
    "price": pa.decimal128(12, 2),
    "day": pa.date32(),
    "wall": pa.timestamp("us"),
    "flag": pa.bool_(),
}
NESTED = {
    "point": pa.struct({"at": pa.timestamp("us", "UTC"), "tags": pa.list_(pa.string())}),
    "many": pa.list_(pa.struct({"n": pa.int32(), "day": pa.date32()})),
}
RFC_4180 = {"header": True, "escape": '"', "multiLine": True, "nullValue": "no such text"}  # else "" is NULL too

CSV = """ts,id,text,x,price,day,wall,flag
2026-07-01T12:00:00+02:00,1,plain,1.5,10.25,2026-07-01,2026-07-01T12:00:00,true
2026-07-01T12:00:00.123456Z,2,"a ""quoted"", text",-0.0,-0.01,1969-12-31,1969-12-31 23:59:59.5,false
2026-07-01T12:00:01-05:30,3,"two
lines",NaN,0.10,0001-01-01,2026-07-01T00:00:00,
2026-07-01T12:00:02Z,4,,,,,,
2026-07-01T12:00:03Z,5,"",1e300,9999999999.99,9999-12-31,2026-03-29T02:30:00,true
2026-07-01T12:00:04Z,6,  kept  ,0.1,1,2024-02-29,2026-07-01T12:00:00,true
2026-07-01T12:00:05Z,7,\\N,1,1.5,2026-07-01,2026-07-01T12:00:00,false
2026-07-01T12:00:06Z,8,NA,1,1.50,2026-07-01,2026-07-01T12:00:00,false
2026-07-01T12:00:07Z,9,null,1,1.50,2026-07-01,2026-07-01T12:00:00,false
2026-07-01T12:00:08Z,10,日本 é 🚀,1,1.50,2026-07-01,2026-07-01T12:00:00,false
2026-07-01T12:00:09Z,11,back\\slash,1,1.50,2026-07-01,2026-07-01T12:00:00,false
"""
JSON = r"""
{"ts": "2026-07-01T12:00:00+02:00", "id": 1, "text": "plain", "x": 1.5, "day": "2026-07-01", "flag": true}
{"ts": "2026-07-01T12:00:00.123456Z", "id": 2, "text": "a \"quote\" \\ \/ \n \u00e9 \ud83d\ude80", "x": -0.0}
{"id": 3, "ts": "2026-07-01T12:00:01-05:30", "text": "", "x": 1e300, "flag": null, "more": {"deep": [1]}, "price": 7}

{"ts": "2026-07-01T12:00:02Z", "id": 4, "text": null, "x": null, "day": null, "wall": null, "point": null, "many": null}
{"ts": "2026-07-01T12:00:03Z", "id": 5, "text": "日本", "x": 7, "wall": "2026-07-01T12:00:00", "day": "1969-12-31"}
{"ts": "2026-07-01T12:00:04Z", "id": 6, "point": {"at": "2026-07-01T12:00:03+01:00", "tags": ["a", null, ""]}}
{"ts": "2026-07-01T12:00:05Z", "id": 7, "price": 1.5, "point": {"tags": [], "extra": 1}, "many": [{"n": 1}, {}]}
{"ts": "2026-07-01T12:00:06Z", "id": 8, "text": "NA", "many": [{"day": "2024-02-29"}], "price": "-0.01", "x": NaN}
"""


def table(schema: pa.Schema) -> pa.Table:
    """Rows of all types: ends of ranges, NULLs, empty text, what is nested."""
    first = datetime(2026, 7, 1, 12, 0, 0, 123456, tzinfo=UTC)
    point = {"at": datetime(1950, 1, 1, tzinfo=UTC), "tags": ["é", None, ""]}
    rows: list[dict[str, Any]] = [
        {"ts": first, "id": 1, "text": "日本 🚀", "x": float("nan"), "flag": True, "point": point, "many": []},
        {"ts": first, "id": 2, "text": "", "x": -0.0, "point": {"at": None, "tags": []}, "many": [None, {"n": 1}]},
        {"ts": first, "id": 3, "day": date(1970, 1, 1), "wall": datetime(2026, 3, 29, 2, 30), "flag": False},
        {"ts": first, "id": 4, "price": Decimal("9999999999.99"), "x": float("inf"), "day": date(9999, 12, 31)},
        {"ts": first, "id": 5, "price": Decimal("-0.01"), "many": [{"n": -(1 << 31), "day": date(2024, 2, 29)}]},
    ]
    return pa.Table.from_pylist(rows, schema)


def by_arrow(**options: Any) -> Callable[[Any, Path], None]:
    def write(spark: Any, folder: Path) -> None:
        schema = pa.schema({**PLAIN, **NESTED, "unread": pa.int8()})
        folder.mkdir()
        pq.write_table(table(schema), folder / "a.parquet", **options)

    return write


def by_spark(**settings: str) -> Callable[[Any, Path], None]:
    def write(spark: Any, folder: Path) -> None:
        schema = pa.schema({**PLAIN, **NESTED})
        frame = spark.createDataFrame(table(schema), spark_schema(schema)).coalesce(1)
        before = {name: spark.conf.get(f"spark.sql.parquet.{name}") for name in settings}
        for name, value in settings.items():
            spark.conf.set(f"spark.sql.parquet.{name}", value)
        frame.write.parquet(str(folder))
        for name, value in before.items():
            spark.conf.set(f"spark.sql.parquet.{name}", value)

    return write


def text(written: str) -> Callable[[Any, Path], None]:
    def write(spark: Any, folder: Path) -> None:
        folder.mkdir()
        (folder / "a").write_text(written, encoding="utf-8")

    return write


def query_over(folder: Path, format: str, schema: pa.Schema) -> dv.Query:
    """Every row of a folder once: joined with itself."""
    source = dv.files(folder, format, static=True)
    streams = [dv.stream(name, source, time="ts", window="1 day", schema=schema) for name in "AB"]
    return dv.join(*streams, on="A.id = B.id", select=", ".join(f"A.{name}" for name in schema.names))


def by_sparks_reader(spark: Any, folder: Path, format: str, schema: pa.Schema, options: Any) -> pa.Table:
    reader = spark.read.schema(spark_schema(schema)).options(**options).format(format)
    rows: pa.Table = reader.load(str(folder)).toArrow().cast(schema)
    assert rows.num_rows >= 5
    return rows


WHOLE = PLAIN | NESTED
INSTANTS = {name: type_ for name, type_ in WHOLE.items() if name != "wall"}  # all that times of 96 bits can be
ONCE = [
    pytest.param("csv", PLAIN, text(CSV), RFC_4180, id="csv"),
    pytest.param("json", WHOLE, text(JSON), {}, id="json"),
    pytest.param("parquet", WHOLE, by_arrow(), {}, id="parquet"),
]
MORE = [
    pytest.param("csv", PLAIN, text(CSV.replace("\n2026", "\r\n2026")), RFC_4180, id="csv with carriage returns"),
    pytest.param("parquet", INSTANTS, by_arrow(use_deprecated_int96_timestamps=True), {}, id="parquet with int96"),
    pytest.param("parquet", WHOLE, by_arrow(store_decimal_as_integer=True, row_group_size=2), {}, id="row groups"),
    pytest.param("parquet", WHOLE, by_spark(), {}, id="written by Spark"),
    pytest.param(
        "parquet", WHOLE, by_spark(outputTimestampType="INT96", writeLegacyFormat="true"), {}, id="Spark's legacy"
    ),
    pytest.param("parquet", WHOLE, by_spark(outputTimestampType="TIMESTAMP_MILLIS"), {}, id="Spark's milliseconds"),
]


@pytest.mark.parametrize(("format", "types", "write", "options"), ONCE + MORE)
def test_the_same_rows_as_sparks_reader(
    spark: Any, tmp_path: Path, format: str, types: Any, write: Any, options: Any
) -> None:
    folder, schema = tmp_path / "in", pa.schema(types)
    write(spark, folder)
    found = query_over(folder, format, schema).collect()
    assert_same_rows(found.select(schema.names), by_sparks_reader(spark, folder, format, schema, options))


@pytest.mark.parametrize(("format", "types", "write", "options"), ONCE)
def test_the_same_rows_on_spark(spark: Any, tmp_path: Path, format: str, types: Any, write: Any, options: Any) -> None:
    folder, schema = tmp_path / "in", pa.schema(types)
    write(spark, folder)
    found = query_over(folder, format, schema).spark(spark).toArrow()
    expected = by_sparks_reader(spark, folder, format, schema, options)
    assert_same_rows(found.select(schema.names).cast(schema), expected)
