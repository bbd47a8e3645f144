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


def by_spark(path: Path, query: dv.Query) -> pa.Table:
    """What the files of a query have that Spark may have written, beside others of its own."""
    files = sorted((path / str(query.name)).glob("batch=*/*.parquet"))
    return pa.concat_tables([pq.ParquetFile(file).read() for file in files]).cast(query.schema)


def as_of(data: dict[str, Any]) -> dv.Query:
    """Rows of A with the nearest of B and the next of C: up to the end either may still change."""
    kinds = {"B": dv.asof("nearest"), "C": dv.asof("forward", tolerance="2 seconds")}
    streams = [
        dv.stream(name, each, time="ts", delay="3 seconds", schema=SCHEMA, asof=kinds.get(name))
        for name, each in data.items()
    ]
    select = "A.row AS a, B.row AS b, C.row AS c"
    return dv.join(*streams, on="A.k = B.k AND A.g = C.g", select=select, how="left", order="hold", partitions=3)


def test_an_as_of_join_is_finished_as_rows_and_into_its_sink(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "ABC"), random_batches("ABC", 4, 3)
    folder.feed(batches)
    query = as_of({name: dv.files(tmp_path / name, max_files=1) for name in "ABC"})
    run(folder, query)
    before, expected = written(folder, query), oracle(query.model, batches).rows
    rest = query.finish(str(tmp_path / "checkpoint"), session=spark)
    assert rest is not None
    held = rest.toArrow().cast(query.schema)
    assert min(before.num_rows, held.num_rows) > 20
    assert_same_rows(pa.concat_tables([before, held]), expected)
    for _ in range(2):
        query.finish(str(tmp_path / "checkpoint"), dv.parquet(tmp_path / "out"), spark)
        assert ordered(written(folder, query))
        assert_same_rows(written(folder, query), expected)
    with pytest.raises(dv.StateError, match="was finished: its last rows have been written"):
        run(folder, query)


def test_shared_queries_are_finished_each_into_its_sink(spark: Any, tmp_path: Path) -> None:
    """Two of one operator with windows of their own, and one of another; a sink that is a function is called once."""
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 3)
    folder.feed(batches)
    near = build(ON, folder.frames(), window="1 second", order="hold").named("near")
    far = build(ON, folder.frames(), how="left").named("far")
    other = build("A.g = B.g AND A.n < B.n", folder.frames(), how="semi").named("other")
    shared, calls = dv.share(near, far, other), list[tuple[int, pa.Table]]()
    assert len(shared.plans) == 2
    sinks: dict[str, Any] = {each.name: str(tmp_path / each.name) for each in (near, far) if each.name}
    sinks["other"] = lambda frame, batch: calls.append((batch, frame.toArrow()))
    checkpoint = str(tmp_path / "checkpoint")
    shared.write(sinks, checkpoint, trigger={"availableNow": True}, session=spark).awaitTermination()
    last, before = calls[-1][0], by_spark(tmp_path, near).num_rows
    for _ in range(2):
        shared.finish(sinks, checkpoint, spark)
    assert [batch for batch, _ in calls] == list(range(last + 2)), "one more batch, and that once"
    found = {"near": by_spark(tmp_path, near), "far": by_spark(tmp_path, far)}
    found["other"] = pa.concat_tables(rows for _, rows in calls).cast(other.schema)
    for query in (near, far, other):
        assert_same_rows(found[str(query.name)], oracle(query.model, batches).rows)
    assert ordered(found["near"])
    assert before < found["near"].num_rows
    with pytest.raises(dv.StateError, match="was finished: its last rows have been written"):
        shared.write(sinks, checkpoint, trigger={"availableNow": True}, session=spark)


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
        assert_same_rows(by_spark(tmp_path, query.named(name)), oracle(query.model, batches).rows)
