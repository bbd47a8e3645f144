"""The end of streaming queries: what a checkpoint holds comes out once, also if that is done again after a failure."""

import io
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import dovetail as dv
from dovetail.cli.run import run_on
from dovetail.sql import parse_pipeline
from dovetail.testing import assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, build
from tests.spark.test_native_sink import ON, run, written

OF_THREE = "A.k = B.k AND B.k = C.k"


def test_an_ordered_left_join_is_finished_once(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 3)
    data = {name: dv.files(tmp_path / name, max_files=1) for name in "AB"}
    query = build(ON, data, how="left", order="hold", window={"A": "4 seconds", "B": "1 second"})
    folder.feed(batches)
    run(folder, query)
    held = written(folder, query).num_rows
    checkpoint, sink = tmp_path / "checkpoint", dv.parquet(tmp_path / "out")

    last = max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.rename(tmp_path / "kept")
    with pytest.raises(dv.StateError, match=r"batch \d+ was begun and not completed. Run the query once more"):
        query.finish(str(checkpoint), sink, spark)
    (tmp_path / "kept").rename(last)

    query.finish(str(checkpoint), sink, spark)
    expected = oracle(query.model, batches).rows
    found = written(folder, query)
    assert held < expected.num_rows
    assert ordered(found)
    assert_same_rows(found, expected)

    batch = tmp_path / "out" / f"batch={int(last.name) + 1}"  # killed half-way: files of before and none of the others
    (batch / "part-00009.parquet").write_bytes(next(batch.iterdir()).read_bytes())
    next(file for file in batch.iterdir() if file.name != "part-00009.parquet").unlink()
    query.finish(str(checkpoint), sink, spark)
    assert_same_rows(written(folder, query), expected)
    with pytest.raises(dv.StateError, match="was finished: its last rows have been written"):
        run(folder, query)


@pytest.mark.parametrize("budget", [None, dv.budget(memory=dv.tuples(60), policy="spill")])
def test_aggregates_and_spilled_rows_come_out(spark: Any, tmp_path: Path, budget: Any) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 7, 3)
    folder.feed(batches)
    streams = [
        dv.stream(name, frame, time="ts", window="4 seconds", delay="3 seconds")
        for name, frame in folder.frames().items()
    ]
    query = dv.join(*streams, on=ON, select="COUNT(*) AS n, MAX(A.row) AS m", budget=budget)
    folder.run(query.spark())
    rest = query.finish(str(tmp_path / "checkpoint"), session=spark)
    assert rest is not None
    found = pa.concat_tables([folder.rows(query), rest.toArrow().cast(query.schema)])
    assert rest.count()
    assert_same_rows(found, oracle(query.model, batches).rows)


def test_a_tree_that_spills_is_finished_from_below(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "ABC"), random_batches("ABC", 6, 2)
    folder.feed(batches)
    budget = dv.budget(memory=dv.tuples(60), policy="spill")
    query = build(OF_THREE, folder.frames(), partitions=3, plan="binary", budget=budget)
    folder.run(query.spark())
    rest = query.finish(str(tmp_path / "checkpoint"), session=spark)
    assert rest is not None
    found = pa.concat_tables([folder.rows(query), rest.toArrow().cast(query.schema)])
    assert rest.count()
    assert_same_rows(found, oracle(query.model, batches).rows)


def test_an_ordered_tree_is_finished_into_its_sink(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "ABC"), random_batches("ABC", 6, 2)
    folder.feed(batches)
    data = {name: dv.files(tmp_path / name, max_files=1) for name in "ABC"}
    query = build(OF_THREE, data, partitions=3, plan="binary", order="hold")
    run(folder, query)
    held = written(folder, query).num_rows
    query.finish(str(tmp_path / "checkpoint"), dv.parquet(tmp_path / "out"), spark)
    found, expected = written(folder, query), oracle(query.model, batches).rows
    assert held < expected.num_rows
    assert ordered(found)
    assert_same_rows(found, expected)


def test_another_query_s_checkpoint_is_refused(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 1)
    folder.feed(batches)
    folder.run(build(ON, folder.frames()).spark())
    other = build("A.n = B.n", folder.frames())
    with pytest.raises(dv.StateError, match="was not written by this query, which is:"):
        other.finish(str(tmp_path / "checkpoint"))


def test_a_pipeline_file_is_run_to_the_end(spark: Any, tmp_path: Path) -> None:
    """Two queries of one join, and one by itself."""
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 4, 2)
    folder.feed(batches)
    columns = "(ts TIMESTAMP, k BIGINT, row BIGINT, WATERMARK FOR ts AS ts - INTERVAL '3' SECOND)"
    streams = [
        f"CREATE STREAM {name} {columns} WITH (format = 'parquet', path = '{tmp_path}/{name}');" for name in "AB"
    ]
    select = "SELECT A.row AS a, B.row AS b FROM A {} JOIN B ON A.k = B.k WINDOW {} SECONDS"
    sinks = {
        name: f"format = 'parquet', path = '{tmp_path}/{name}', checkpoint = '{tmp_path}/{name}.state'"
        for name in ("out", "near", "far")
    }
    inserts = [
        f"INSERT INTO alone WITH ({sinks['out']}, writer = 'dovetail') {select.format('LEFT', 4)};",
        f"INSERT INTO near WITH ({sinks['near']}, order = 'hold') {select.format('INNER', 1)};",
        f"INSERT INTO far WITH ({sinks['far']}, order = 'hold') {select.format('INNER', 4)};",
    ]
    pipeline = parse_pipeline("".join(streams + inserts))
    assert run_on(spark, pipeline, Event(), Console(file=io.StringIO()), once=True, finish=True) is None
    for name, how, window in (("out", "left", 4), ("near", "inner", 1), ("far", "inner", 4)):
        query = build(ON, {name: SCHEMA.empty_table() for name in "AB"}, how=how, window=f"{window} seconds")
        files = sorted((tmp_path / name).glob("batch=*/*.parquet"))  # beside others that Spark writes
        found = pa.concat_tables([pq.ParquetFile(file).read() for file in files]).cast(query.schema)
        assert_same_rows(found, oracle(query.model, batches).rows)
