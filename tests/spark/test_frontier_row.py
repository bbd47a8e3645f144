"""Several operators in a chain on Spark: the rows of one operator, across restarts, with state that stays bounded."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.api import spark_metrics
from dovetail.testing import assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import CONDITIONS, build


@pytest.mark.parametrize(("case", "plan"), [("chain of keys", "binary"), ("four streams", (("A", "B"), ("C", "D")))])
def test_rows_are_the_oracles(spark: Any, tmp_path: Path, case: str, plan: Any) -> None:
    names, on = CONDITIONS[case]
    folder = Folder(spark, tmp_path, names)
    batches = random_batches(names, seed=len(case), batches=3, count=40 if len(names) < 4 else 20)
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        query = build(on, folder.frames(), partitions=2, plan=plan)
        started = folder.run(query.spark())
    expected = oracle(query.model, batches).rows
    assert expected.num_rows
    assert_same_rows(folder.rows(query), expected)
    known = spark_metrics(started)[-1]["statistics"]
    assert set(names) <= set(known["rates"])
    assert known["tuples"]["A"] > 0


def test_an_operator_above_forgets_though_the_one_below_finds_nothing(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    batches = random_batches("ABC", seed=3, batches=6)
    folder.feed(batches)
    query = build("A.k = B.k AND A.k < 0 AND B.k = C.k", folder.frames(), partitions=1, plan="binary")
    started = folder.run(query.spark())
    stored = [
        report["engine"]["streams"]["C"]["stored"]
        for batch in spark_metrics(started)
        for report in batch["buckets"]
        if "C" in report["engine"]["streams"]
    ]
    arrived = sum(push.batch["C"].num_rows for push in batches if "C" in push.batch)
    assert stored[-1] < arrived * 0.9
