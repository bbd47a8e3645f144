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
        ("ABS(A.x - B.x) <= 0.25", {"order": "hold"}),
    ],
)
def test_static_rows_are_the_oracles(spark: Any, on: str, options: dict[str, Any]) -> None:
    tables = {name: random_rows(seed, 150, seconds=20) for seed, name in enumerate("AB")}
    query = build(on, dict(tables), partitions=4, **options)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)
    assert options.get("order") is None or ordered(rows)


def test_an_ordered_stream_never_goes_back_across_buckets_and_batches(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=12, batches=3), far]
    folder.feed(batches)
    query = build("A.k = B.k AND A.g = B.g", folder.frames(), partitions=4, order="hold")
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
    for _ in range(60):
        rows = spark.table("silent").toArrow()
        if rows.num_rows >= expected.num_rows or started.awaitTermination(1):
            break
    started.stop()
    assert_same_rows(rows.cast(query.schema), expected)


def _before(rows: pa.Table, time: pa.Scalar) -> pa.Table:
    return rows.filter(pc.less(rows["result_time"], time))
