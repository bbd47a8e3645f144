"""Sliding aggregates on Spark: groups that stay in one cell, groups that do not, and going on from a checkpoint."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.runtime.spark.metrics import spark_metrics
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from dovetail.testing.sliding import aggregated
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import random_rows

WHOLE = "SELECT A.k, COUNT(*) AS n, SUM(B.x) AS x, MIN(B.g) AS g FROM A, B WHERE A.k = B.k AND A.g = B.g GROUP BY A.k"
SPREAD = "SELECT COUNT(*) AS n, COUNT(DISTINCT A.n) AS d, MAX(B.x) AS x, AVG(A.n) AS m FROM A, B WHERE A.k = B.k"
OUTER = "SELECT B.g, COUNT(B.k) AS n, COUNT(*) AS whole FROM A LEFT JOIN B ON A.k = B.k AND A.n = B.n GROUP BY B.g"


def build(text: str, data: dict[str, Any], delay: str = "3 seconds", **options: Any) -> dv.Query:
    streams = [dv.stream(name, frame, time="ts", delay=delay) for name, frame in data.items()]
    return dv.sql(text, *streams, window="4 seconds", partitions=4, **options)


@pytest.mark.parametrize("text", [WHOLE, SPREAD, OUTER], ids=["whole", "spread", "outer"])
def test_static_aggregates_are_the_oracles(spark: Any, text: str) -> None:
    tables = {name: random_rows(seed, 100, seconds=20) for seed, name in enumerate("AB")}
    query = build(text, dict(tables))
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)


def far_push() -> Push:
    """Rows long after all others, which prove that every window has emptied."""
    return Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("AB")})


@pytest.mark.parametrize(("text", "order"), [(WHOLE, "hold"), (SPREAD, "sync")], ids=["whole", "spread"])
def test_aggregates_go_on_across_restarts(spark: Any, tmp_path: Path, text: str, order: str) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = [*random_batches("AB", seed=4, batches=3), far_push()]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build(text, folder.frames(), order=order)
        folder.run(query.spark())
    expected = before_far(oracle(query.model, batches).rows)
    assert_same_rows(before_far(folder.rows(query)), expected)
    assert expected["n"].to_pylist()[-1] == 0, "the last window has emptied"


def before_far(rows: pa.Table) -> pa.Table:
    early = pa.scalar(500_000_000, pa.int64()).cast(rows.schema.field("result_time").type)
    return rows.filter(pc.less(rows["result_time"], early))


def test_kept_late_rows_count_where_the_join_itself_gives_them(spark: Any, tmp_path: Path) -> None:
    batches = [*random_batches("AB", seed=6, batches=3), far_push()]
    counted, joined = (Folder(spark, tmp_path / name, "AB") for name in ("counted", "joined"))
    for folder in (counted, joined):
        folder.feed(batches)
    query = build(WHOLE, counted.frames(), delay="0 seconds", late="keep", order="hold")
    running = counted.run(query.spark())
    plain = build(WHOLE, joined.frames(), delay="0 seconds", late="keep", order="hold").replace(aggregation=None)
    joined.run(plain.spark())
    rows = counted.rows(query)
    late = sum(
        stream["late"]
        for bucket in spark_metrics(running)[-1]["buckets"]
        for stream in bucket["engine"]["streams"].values()
    )
    assert late > 0
    assert_same_rows(before_far(rows), before_far(aggregated(query.model, joined.rows(plain))))
