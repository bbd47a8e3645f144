"""Sliding aggregates on Spark: groups that stay in one cell, groups that do not, and going on from a checkpoint."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import random_rows

WHOLE = "SELECT A.k, COUNT(*) AS n, SUM(B.x) AS x, MIN(B.g) AS g FROM A, B WHERE A.k = B.k AND A.g = B.g GROUP BY A.k"
SPREAD = "SELECT COUNT(*) AS n, COUNT(DISTINCT A.n) AS d, MAX(B.x) AS x, AVG(A.n) AS m FROM A, B WHERE A.k = B.k"
OUTER = "SELECT B.g, COUNT(B.k) AS n, COUNT(*) AS whole FROM A LEFT JOIN B ON A.k = B.k AND A.n = B.n GROUP BY B.g"


def build(text: str, data: dict[str, Any], **options: Any) -> dv.Query:
    streams = [dv.stream(name, frame, time="ts", delay="3 seconds") for name, frame in data.items()]
    return dv.sql(text, *streams, window="4 seconds", partitions=4, **options)


@pytest.mark.parametrize("text", [WHOLE, SPREAD, OUTER], ids=["whole", "spread", "outer"])
def test_static_aggregates_are_the_oracles(spark: Any, text: str) -> None:
    tables = {name: random_rows(seed, 100, seconds=20) for seed, name in enumerate("AB")}
    query = build(text, dict(tables))
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)


@pytest.mark.parametrize(("text", "order"), [(WHOLE, "hold"), (SPREAD, "sync")], ids=["whole", "spread"])
def test_aggregates_go_on_across_restarts(spark: Any, tmp_path: Path, text: str, order: str) -> None:
    folder = Folder(spark, tmp_path, "AB")
    far = Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate("AB")})
    batches = [*random_batches("AB", seed=4, batches=3), far]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build(text, folder.frames(), order=order)
        folder.run(query.spark())
    early = pa.scalar(500_000_000, pa.int64()).cast(query.schema.field("result_time").type)
    expected = oracle(query.model, batches).rows
    assert_same_rows(*(rows.filter(pc.less(rows["result_time"], early)) for rows in (folder.rows(query), expected)))
