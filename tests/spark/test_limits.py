"""The policy "fail" on Spark: a batch that does not fit ends the query, and with more memory it goes on from there."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows, assert_subset, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.test_random_joins import Join

LATER = "A.k = B.k AND B.ts BETWEEN A.ts AND A.ts + INTERVAL '3' SECOND"
JOINS = {
    "intervals": Join("AB", LATER, {"B": "left"}),
    "by stream": Join(
        "ABC",
        "A.k = B.k AND A.g = C.g",
        {"B": "left", "C": "anti"},
        {name: {"window": "2 seconds"} for name in "ABC"},
    ),
    "as of": Join("AB", "A.k = B.k", {"B": "left"}, {"B": {"asof": dv.asof("nearest")}}),
}


@pytest.mark.parametrize("kind", JOINS)
def test_what_does_not_fit_ends_the_query_and_more_memory_goes_on(spark: Any, tmp_path: Path, kind: str) -> None:
    join = JOINS[kind]
    folder, batches = Folder(spark, tmp_path, join.names), random_batches(join.names, 5, 3)
    folder.feed(batches)
    first = sum(rows.num_rows for rows in batches[0].batch.values())

    def query(memory: int) -> dv.Query:
        budget = dv.budget(memory=dv.tuples(memory), policy="fail")
        return join.query(folder.frames(), partitions=1, budget=budget)

    with pytest.raises(Exception, match=r"would bring what is held from \d+ to about \d+, and the budget is memory"):
        folder.run(query(first + 10).spark())
    assert sorted(path.name for path in (tmp_path / "checkpoint" / "commits").glob("[0-9]*")) == ["0"]
    more = query(10_000)
    expected = oracle(more.model, batches).rows
    assert_subset(folder.rows(more), expected)
    folder.run(more.spark())
    rest = more.finish(str(tmp_path / "checkpoint"), session=spark)
    assert rest is not None
    assert_same_rows(pa.concat_tables([folder.rows(more), rest.toArrow().cast(more.schema)]), expected)
