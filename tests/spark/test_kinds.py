"""Outer, semi and anti joins, row windows and ordered output over several buckets."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build, random_rows


@pytest.mark.parametrize(
    ("on", "options"),
    [
        ("A.k = B.k", {"how": "full"}),
        ("ABS(A.x - B.x) <= 0.05 AND A.n < 40", {"how": "left"}),
        ("(A.n + B.n) % 31 = 0", {"how": "right"}),
        ("A.n = B.n", {"how": "semi"}),
        ("A.k = B.k AND A.g = B.g", {"how": "anti"}),
        ("A.k = B.k AND A.n < 40", {"window": {"A": dv.rows(7), "B": "4 seconds"}}),
        ("A.k = B.k AND B.x > 0", {"window": {"A": "4 seconds", "B": dv.rows(3, per="key")}}),
        ("A.k = B.k", {"how": "left", "window": {"A": dv.rows(3, per="key"), "B": "1 second"}}),
        ("A.k = B.k", {"how": "full", "order": "hold", "window": {"A": dv.rows(3, per="key"), "B": "30 seconds"}}),
        ("ABS(A.x - B.x) <= 0.25", {"order": "hold"}),
    ],
)
def test_static_rows_are_the_oracles(spark: Any, on: str, options: dict[str, Any]) -> None:
    tables = {name: random_rows(seed, 150, seconds=20) for seed, name in enumerate("AB")}
    query = build(on, dict(tables), partitions=4, **options)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)
    assert options.get("order") is None or ordered(rows)


@pytest.mark.parametrize("options", [{"how": "full"}, {"how": "left", "order": "hold"}], ids=str)
def test_unmatched_rows_of_streams_come_out_once_across_restarts(
    spark: Any, tmp_path: Path, options: dict[str, Any]
) -> None:
    folder = Folder(spark, tmp_path, "AB")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=4, batches=3), far]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build("A.k = B.k AND A.g = B.g", folder.frames(), partitions=3, **options)
        folder.run(query.spark())
    early = pa.scalar(500_000_000, pa.int64()).cast(query.schema.field("result_time").type)
    assert_same_rows(_before(folder.rows(query), early), _before(oracle(query.model, batches).rows, early))


def test_rows_that_did_not_come_in_are_a_data_frame(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    old, fresh = random_rows(1, 20, 0, 1), random_rows(2, 20, 100, 1)
    no_time = fresh.set_column(0, fresh.schema.field(0), pa.nulls(20, fresh.schema.field(0).type))
    folder.feed([Push({"A": fresh, "B": fresh}), Push({"A": old, "B": no_time})])
    query = build("A.k = B.k", folder.frames(), partitions=2, late="divert")
    folder.run(query.late())
    rows = spark.read.schema(query.late().schema).parquet(str(tmp_path / "out")).toArrow().to_pylist()
    late = [row for row in rows if row["reason"] == "late"]
    assert {row["stream"] for row in late} == {"A"}
    assert sorted(row["A"]["row"] for row in late) == sorted(old["row"].to_pylist())
    assert all(row["late_by"].total_seconds() > 90 for row in late)
    lost = [row for row in rows if row["reason"] == "no time"]
    assert sorted(row["B"]["row"] for row in lost) == sorted(no_time["row"].to_pylist())


def test_only_a_query_that_diverts_hands_rows_over(spark: Any) -> None:
    query = build("A.k = B.k", {name: random_rows(seed, 5) for seed, name in enumerate("AB")})
    with pytest.raises(dv.PlanError, match="only late='divert' hands rows over"):
        query.late(spark)


@pytest.mark.parametrize("partitions", [1, 4])
def test_an_ordered_stream_never_goes_back_across_buckets_and_batches(
    spark: Any, tmp_path: Path, partitions: int
) -> None:
    folder = Folder(spark, tmp_path, "AB")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=12, batches=3), far]
    folder.feed(batches)
    query = build("A.k = B.k AND A.g = B.g", folder.frames(), partitions=partitions, order="hold")
    released: list[pa.Table] = []
    writer = query.spark().writeStream.foreachBatch(lambda frame, _: released.append(frame.toArrow()))
    started = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    started.awaitTermination()
    rows = pa.concat_tables(released).cast(query.schema)
    early = pa.scalar(500_000_000, pa.int64()).cast(query.schema.field("result_time").type)
    assert ordered(rows)
    assert_same_rows(rows, _before(oracle(query.model, batches).rows, early))


def test_a_stream_that_falls_silent_does_not_hold_the_others_back(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    folder.feed([Push({name: random_rows(seed, 40) for seed, name in enumerate("AB")})])
    folder.feed([Push({"A": random_rows(2, 10, 600, 1, first_row=9000)})])
    streams = [
        dv.stream(name, frame, time="ts", window="4 seconds", delay="3 seconds", idle="500 milliseconds")
        for name, frame in folder.frames().items()
    ]
    query = dv.join(*streams, on="A.k = B.k", select="A.row AS a, B.row AS b", order="hold", partitions=2)
    writer = query.spark().writeStream.format("memory").queryName("silent")
    started = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    tables = {name: random_rows(seed, 40) for seed, name in enumerate("AB")}
    expected = oracle(query.model, [Push(tables)]).rows
    for _ in range(300):
        rows = spark.table("silent").toArrow()
        if rows.num_rows >= expected.num_rows or started.awaitTermination(1):
            break
    started.stop()
    assert_same_rows(rows.cast(query.schema), expected)


def _before(rows: pa.Table, time: pa.Scalar) -> pa.Table:
    return rows.filter(pc.less(rows["result_time"], time))
