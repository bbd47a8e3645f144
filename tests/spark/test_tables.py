"""Tables, repeats and single matches on Spark: over restarts and several buckets, against the oracle."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import random_rows

FAR = 500_000_000


def _early(rows: pa.Table) -> pa.Table:
    """Without the rows at the end, which only let the others come out."""
    return rows.filter(pc.less(rows["result_time"], pa.scalar(FAR, pa.int64()).cast(rows.schema.field(0).type)))


def _far(names: str) -> Push:
    return Push({name: random_rows(seed, 5, 600, 1, first_row=9000) for seed, name in enumerate(names)})


@pytest.mark.parametrize("frame", [True, False])
def test_a_static_table_answers_streams_over_a_restart(spark: Any, tmp_path: Path, frame: bool) -> None:
    folder = Folder(spark, tmp_path, "A")
    rows = random_rows(7, 40, -5, 8).drop_columns(["ts"])
    batches = random_batches("A", seed=3, batches=3)
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        table = dv.table("B", spark.createDataFrame(rows) if frame else rows, key="g")
        stream = dv.stream("A", folder.frame("A"), time="ts", delay="3 seconds")
        query = dv.join(
            stream, table, on="A.g = B.g AND B.n < 40", select="A.row AS a, B.row AS b", how="left", partitions=2
        )
        folder.run(query.spark())
    known = query.model.stream("B").data
    loaded = known.toArrow() if frame else known
    assert_same_rows(folder.rows(query), oracle(query.model, [Push.of("B", loaded), *batches]).rows)


@pytest.mark.parametrize("ttl", [None, "0.3 seconds"])
def test_versions_are_waited_for_until_they_are_loaded(spark: Any, tmp_path: Path, ttl: str | None) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = [*random_batches("AB", seed=5, batches=4), _far("AB")]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        loaded: dict[str, Any] = {"ready": "1970-01-01 00:00:06+00:00", "delay": "2 seconds", "ttl": ttl}
        table = dv.table("B", folder.frame("B"), key="g", time="ts", **loaded)
        stream = dv.stream("A", folder.frame("A"), time="ts", delay="3 seconds")
        query = dv.join(stream, table, on="A.g = B.g", select="A.row AS a, B.row AS b", how="left", partitions=3)
        folder.run(query.spark())
    expected = _early(oracle(query.model, batches).rows)
    assert_same_rows(_early(folder.rows(query)), expected)
    assert expected.num_rows > 50
    assert (expected["b"].null_count > 30) is (ttl is not None), "versions end with their time to live"


@pytest.mark.parametrize("on", ["A.k = B.k", "A.n < B.n - 30"])
def test_repeats_meet_in_any_grid_and_over_a_restart(spark: Any, tmp_path: Path, on: str) -> None:
    folder = Folder(spark, tmp_path, "AB")
    once = random_batches("AB", seed=8, batches=3)
    again = Push({name: table.slice(0, 20) for name, table in once[2].batch.items()})
    batches = [*once, again, _far("AB")]
    for part in (batches[:2], batches[2:]):
        folder.feed(part)
        streams = [
            dv.stream(name, folder.frame(name), time="ts", window="2 seconds", delay="9 seconds", dedup="row")
            for name in "AB"
        ]
        query = dv.join(*streams, on=on, select="A.row AS a, B.row AS b", partitions=4)
        folder.run(query.spark())
    outcome = oracle(query.model, batches)
    assert_same_rows(_early(folder.rows(query)), _early(outcome.rows))
    assert min(outcome.repeated.values()) > 0


def test_only_the_first_match(spark: Any) -> None:
    tables = {name: random_rows(seed, 150, seconds=20) for seed, name in enumerate("AB")}
    streams = [
        dv.stream("A", tables["A"], time="ts", window="3 seconds"),
        dv.stream("B", tables["B"], time="ts", window="1 second", match="first"),
    ]
    query = dv.join(*streams, on="A.g = B.g", select="A.row AS a, B.row AS b", how="left", partitions=3)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)
