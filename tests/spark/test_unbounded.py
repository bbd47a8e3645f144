"""Joins without windows, and fields of structures, on Spark: tables, and streams beside tables."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import random_rows

POINT = pa.struct({"id": pa.int64(), "at": pa.struct({"x": pa.float64()})})
NESTED = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "p": POINT, "row": pa.int64()})


def nested(rows: pa.Table) -> pa.Table:
    """Rows of ``SCHEMA`` with their key inside of a structure, which is sometimes NULL."""
    points = [
        None if n == 0 else {"id": k, "at": None if n == 1 else {"x": x}}
        for k, x, n in zip(rows["k"].to_pylist(), rows["x"].to_pylist(), rows["n"].to_pylist(), strict=True)
    ]
    return pa.table([rows["ts"], pa.array(points, POINT), rows["row"]], NESTED)


@pytest.mark.parametrize(("how", "order"), [("inner", "none"), ("full", "hold")])
def test_tables_need_no_window(spark: Any, how: str, order: str) -> None:
    data = {name: random_rows(seed, 60, seconds=90_000) for seed, name in enumerate("AB")}
    streams = [dv.stream(name, spark.createDataFrame(rows), time="ts") for name, rows in data.items()]
    query = dv.join(*streams, on="A.k = B.k AND A.g = B.g", select="A.row AS a, B.row AS b", how=how, order=order)
    assert {str(stream.window) for stream in query.model.streams} == {"unbounded"}
    found = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(found, oracle(query.model, [Push(data)]).rows)


def test_a_stream_beside_a_table_needs_no_window(spark: Any, tmp_path: Path) -> None:
    """Rows without a partner come out at once, with their own time."""
    folder, batches = Folder(spark, tmp_path, "A"), random_batches("A", 5, 3)
    folder.feed(batches)
    table = random_rows(9, 3, start=-5000)
    streams = [dv.stream("A", folder.frame("A"), time="ts", delay="3 seconds"), dv.stream("B", table, time="ts")]
    query = dv.join(*streams, on="A.k = B.k", select="A.row AS a, B.row AS b", how="left")
    folder.run(query.spark(spark))
    found = folder.rows(query)
    assert_same_rows(found, oracle(query.model, [Push.of("B", table), *batches]).rows)
    assert 0 < found["b"].null_count < found.num_rows
    with pytest.raises(dv.QueryError, match=r"stream 'A' has no window; .* Only what ends needs none"):
        dv.join(streams[0], dv.stream("C", folder.frame("A"), time="ts"), on="A.k = C.k")


def test_streams_without_windows_spill_and_lose_nothing(spark: Any, tmp_path: Path) -> None:
    """Nothing ever expires, so what memory has no room for waits in the state, over a restart and to the end."""
    folder, batches, flushed = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 4), 0
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        streams = [
            dv.stream(name, frame, time="ts", window=dv.unbounded(), delay="3 seconds")
            for name, frame in folder.frames().items()
        ]
        budget = dv.budget(memory=dv.tuples(40), policy="spill")
        on = "A.k = B.k AND A.n < B.n"
        query = dv.join(*streams, on=on, select="A.row AS a, B.row AS b", how="left", partitions=2, budget=budget)
        reports = [bucket for batch in dv.spark_metrics(folder.run(query.spark())) for bucket in batch["buckets"]]
        flushed += sum(bucket["engine"]["memory"]["flushed_tuples"] for bucket in reports)
        assert all(bucket["engine"]["memory"]["held"] <= 40 for bucket in reports)
    assert flushed > 100
    rest = query.finish(str(tmp_path / "checkpoint"), session=spark)
    assert rest is not None
    found = pa.concat_tables([folder.rows(query), rest.toArrow().cast(query.schema)])
    assert_same_rows(found, oracle(query.model, batches).rows)


def test_fields_of_structures(spark: Any, tmp_path: Path) -> None:
    data = {name: nested(random_rows(seed, 80)) for seed, name in enumerate("AB")}
    on = "A.p.id = B.p.id AND A.p.at.x > B.p.at.x AND A.p.at.x > -1"
    select = "A.row AS a, B.row AS b, A.p.at.x, B.p.at AS place"
    for name, rows in data.items():
        pq.write_table(rows, tmp_path / f"{name}.parquet")
    frames: list[dict[str, Any]] = [
        {name: spark.createDataFrame(rows) for name, rows in data.items()},
        {name: dv.files(tmp_path / f"{name}.parquet", static=True) for name in data},
    ]
    for given in frames:
        streams = [dv.stream(name, each, time="ts", window="2 seconds") for name, each in given.items()]
        query = dv.join(*streams, on=on, select=select)
        found = query.spark(spark).toArrow().cast(query.schema)
        assert found.num_rows > 20
        assert_same_rows(found, oracle(query.model, [Push(data)]).rows)
    assert query.plan.columns["A"] == ("ts", "row", "p.at.x", "p.id")
