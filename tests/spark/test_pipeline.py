"""What Spark adds: checkpoints, state, metrics, what may follow, and what is refused."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812

import dovetail as dv
from dovetail.engine.buffer.sealed import unseal_batch
from dovetail.errors import PlanError, StreamError
from dovetail.runtime.spark.metrics import spark_metrics
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, build, random_rows


def test_state_of_expired_windows_goes_and_metrics_say_what_happened(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    seconds = [0, 2, 4, 100]
    batches = [Push({name: random_rows(start, 50, start, 2) for name in "AB"}) for start in seconds]
    folder.feed(batches)
    query = build("A.k = B.k AND A.n < 40", folder.frames(), partitions=2)
    run = folder.run(query.spark())

    stored = _stored_slices(spark, tmp_path)
    assert pc.min(stored["ts"]).as_py().minute == 1, "all that is left is from 100 seconds on"
    metrics = spark_metrics(run)
    assert [batch["batch"] for batch in metrics] == [0, 1, 2, 3]
    assert [batch["streams"]["B"]["rows"] for batch in metrics] == [50, 50, 50, 50]
    assert sum(batch["results"] for batch in metrics) == folder.rows(query).num_rows
    failing = sum(pc.sum(pc.greater_equal(push.batch["A"]["n"], 40)).as_py() for push in batches)
    assert sum(batch["streams"]["A"]["filtered"] for batch in metrics) == failing
    last = metrics[-1]["buckets"]
    assert sum(bucket["engine"]["streams"]["B"]["stored"] for bucket in last) == stored.num_rows - _count(stored, "A")
    assert {bucket["recalled"] for batch in metrics for bucket in batch["buckets"]} <= {
        "new",
        "cached",
        "caught up",
        "loaded",
    }


def _stored_slices(spark: Any, path: Path) -> pa.Table:
    """Every tuple in the checkpoint, read with Spark's own reader of state."""
    reader = spark.read.format("statestore").option("path", str(path / "checkpoint"))
    slices = reader.option("stateVarName", "slices").load()
    tables = []
    for row in slices.selectExpr("user_map_key.section", "user_map_key.number", "user_map_value.blob").collect():
        name = f"slice {row.number} of {row.section!r} in the checkpoint"
        table = pa.table(unseal_batch(row.blob, name)).select(["ts"])
        tables.append(table.append_column("section", pa.array([row.section] * table.num_rows)))
    return pa.concat_tables(tables)


def _count(stored: pa.Table, stream: str) -> int:
    return int(pc.sum(pc.equal(stored["section"], f"window/{stream}")).as_py())


def test_a_checkpoint_of_another_query_or_of_swapped_streams_is_refused(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    folder.feed(random_batches("AB", seed=1, batches=1))
    folder.run(build("A.k = B.k", folder.frames()).spark())
    folder.feed(random_batches("AB", seed=2, batches=1))
    with pytest.raises(StreamingQueryException) as caught:
        folder.run(build("A.n = B.n", folder.frames()).spark())
    message = str(caught.value)
    assert "this checkpoint belongs to another query" in message
    assert "inner join on A.k = B.k" in message
    assert "inner join on A.n = B.n" in message
    swapped = build("A.k = B.k", {name: folder.frames()[name] for name in "BA"})
    with pytest.raises(StreamingQueryException, match="this checkpoint belongs to another query"):
        folder.run(swapped.spark())


def test_a_checkpoint_keeps_its_partitions_whatever_the_session_says(spark: Any, tmp_path: Path) -> None:
    session = spark.newSession()  # whose settings are its own
    folder = Folder(session, tmp_path, "AB")
    batches = random_batches("AB", seed=3, batches=2)
    seen = []
    for partitions, push in zip(("3", "2"), batches, strict=True):
        session.conf.set("spark.sql.shuffle.partitions", partitions)
        folder.feed([push])
        query = build("A.k = B.k", folder.frames())
        seen.append([bucket["bucket"] for bucket in spark_metrics(folder.run(query.spark()))[-1]["buckets"]])
    assert len(seen[0]) == 3
    assert seen[0] == seen[1]
    assert_same_rows(folder.rows(query), oracle(query.model, batches).rows)


def test_what_a_column_of_the_result_is_called_may_change(spark: Any, tmp_path: Path) -> None:
    folder, names = Folder(spark, tmp_path, "AB"), []
    batches = random_batches("AB", seed=3, batches=2)
    for name, push in zip(("a", "left"), batches, strict=True):
        folder.feed([push])
        streams = [dv.stream(each, frame, time="ts", window="4 seconds") for each, frame in folder.frames().items()]
        rows = dv.join(*streams, on="A.k = B.k", select=f"A.row AS {name}", order="hold", partitions=1).spark()
        folder.run(rows.drop("result_time"))
        names += rows.columns
    assert names == ["result_time", "a", "result_time", "left"]


def test_inputs_with_watermarks_join_and_results_can_be_aggregated(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = [Push({name: random_rows(start, 50, start, 2) for name in "AB"}) for start in (0, 2, 60)]
    folder.feed(batches)
    query = build("A.k = B.k", folder.frames())
    counted = (
        query.spark().withWatermark("result_time", "5 seconds").groupBy(F.window("result_time", "1 second")).count()
    )
    folder.run(counted.select("window.start", "count"))
    counts = spark.read.parquet(str(tmp_path / "out")).toArrow()
    early = build("A.k = B.k", {name: _all(batches[:2], name) for name in "AB"}).collect()
    assert pc.sum(counts["count"]).as_py() == early.num_rows


def test_repeats_are_dropped_before_and_results_counted_after(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = [Push({name: random_rows(start, 50, start, 2) for name in "AB"}) for start in (0, 2, 60)]
    folder.feed([Push({name: pa.concat_tables([rows, rows]) for name, rows in push.batch.items()}) for push in batches])
    frames = {
        name: frame.withWatermark("ts", "5 seconds").dropDuplicatesWithinWatermark(["ts", "row"])
        for name, frame in folder.frames().items()
    }
    counted = build("A.k = B.k", frames).spark().groupBy(F.window("result_time", "1 second")).count()
    folder.run(counted.select("window.start", "count"))
    counts = spark.read.parquet(str(tmp_path / "out")).toArrow()
    early = build("A.k = B.k", {name: _all(batches[:2], name) for name in "AB"}).collect()
    assert pc.sum(counts["count"]).as_py() == early.num_rows


def _all(batches: list[Push], name: str) -> pa.Table:
    return pa.concat_tables([push.batch[name] for push in batches])


def test_inputs_may_carry_watermarks_of_their_own(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = random_batches("AB", seed=6, batches=2)
    folder.feed(batches)
    frames = {name: frame.withWatermark("ts", "1 second") for name, frame in folder.frames().items()}
    query = build("A.k = B.k", frames)
    folder.run(query.spark())
    assert folder.rows(query).num_rows


def test_odd_column_names_are_only_names(spark: Any) -> None:
    names = ["a.b", "with space", "tick`ed", "größe", "SELECT"]
    table = pa.table({"event time": pa.array([1, 2], pa.timestamp("us")), **{name: [1, 2] for name in names}})
    streams = [
        dv.stream(name, spark.createDataFrame(table), time="event time", window="1 second") for name in ("Ä", "b c")
    ]
    query = dv.join(*streams, on='"Ä"."a.b" = "b c"."größe"')
    rows = query.spark().toArrow()
    assert rows.num_rows == 2
    assert rows.column_names == query.schema.names


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"A": None, "B": None}, "no stream has a Spark DataFrame"),
        ({"A": "frame", "B": None}, "stream 'B' has no data"),
    ],
)
def test_missing_inputs_are_named(spark: Any, data: dict[str, Any], message: str) -> None:
    frame = spark.createDataFrame(SCHEMA.empty_table())
    streams = [
        dv.stream(name, frame if given else None, time="ts", window="1 second", schema=None if given else SCHEMA)
        for name, given in data.items()
    ]
    with pytest.raises(PlanError, match=message):
        dv.join(*streams, on="A.k = B.k").spark()


def test_a_sink_that_wants_the_whole_result_each_time_is_refused_at_the_start(spark: Any, tmp_path: Path) -> None:
    rows = build("A.k = B.k", Folder(spark, tmp_path, "AB").frames()).spark()
    writer = rows.writeStream.format("noop").outputMode("complete")
    with pytest.raises(AnalysisException, match=r"(?i)output mode"):
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()


def test_a_stream_written_as_a_table_at_rest_is_refused(spark: Any, tmp_path: Path) -> None:
    rows = build("A.k = B.k", Folder(spark, tmp_path, "AB").frames()).spark()
    with pytest.raises(AnalysisException, match="streaming"):
        rows.write.format("noop").mode("overwrite").save()


@pytest.mark.parametrize(
    ("time", "message"),
    [("when", "has no column 'when' to take its time from"), ("g", "time column 'g' has type string")],
)
def test_a_data_frame_without_a_time_is_refused_when_the_stream_is_made(spark: Any, time: str, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        dv.stream("A", spark.createDataFrame(SCHEMA.empty_table()), time=time, window="1 second")
