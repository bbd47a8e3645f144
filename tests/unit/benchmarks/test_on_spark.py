from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.checksum import Sum, spark_hash, sum_of
from benchmarks.files import FILES, inputs
from benchmarks.peer_spark import Pipeline, plain_settings, results_of
from benchmarks.spark_runs import Batch, Measured, account
from benchmarks.turns import as_one, batches_of
from benchmarks.workloads import equi, left
from dovetail.runtime.spark.session import RECORDS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_computes_the_same_checksum(spark: "SparkSession") -> None:
    table = equi(1_000, "UTC").tables["A"].select(["ts", "k"])
    table = pa.concat_tables([table, table.slice(0, 1).set_column(1, "k", pa.nulls(1, pa.int64()))])
    (found,) = spark.createDataFrame(table).selectExpr(f"sum({spark_hash(['k', 'ts'], ['ts'])})").first() or (None,)
    assert found == sum_of(table, ["k", "ts"]).total


def test_a_plain_pipeline_runs_on_sparks_own_settings(spark: "SparkSession") -> None:
    """They count until it ends, although the session's were put back."""
    workload, ours = equi(30_000, "UTC"), spark.conf.get(RECORDS)

    def counted(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})

    with inputs(workload, 60_000) as folder:
        source = spark.readStream.schema("ts timestamp, k long, v double").parquet(str(folder / "A"))
        writer = source.mapInArrow(counted, "rows long").writeStream.format("memory").queryName("plain_floor")
        with plain_settings(spark):
            query = writer.trigger(availableNow=True).start()
        assert spark.conf.get(RECORDS) == ours != "10000"
        query.awaitTermination()
    handed_over = {row["rows"] for row in spark.table("plain_floor").collect()}
    assert max(handed_over) == 10_000


def test_batches_become_files_of_both_streams() -> None:
    with inputs(equi(1_000, "UTC"), 400, closing=True) as folder:
        files = {name: sorted((folder / name).iterdir()) for name in "AB"}
        assert [len(found) for found in files.values()] == [10 + 2 * FILES] * 2
    assert not Path(folder).exists()


def test_steady_state_is_the_second_half_of_the_full_batches() -> None:
    seconds = [9.0, 5.0, 2.0, 2.0, 7.0]
    batches = [Batch(100 if number < 4 else 7, spent, 0.0, {}) for number, spent in enumerate(seconds)]
    assert Measured(batches, Sum()).rows_per_s == pytest.approx(200 / 4.0)


def test_of_two_runs_each_batch_counts_as_the_faster() -> None:
    runs = [[3.0, 2.0, 4.0], [4.0, 1.0, 3.0, 0.1]]
    one, other = (Measured([Batch(100, spent, 0.0, {}) for spent in seconds], Sum(len(seconds), 0)) for seconds in runs)
    best = one.at_best(other)
    assert [batch.seconds for batch in best.batches] == [3.0, 1.0, 3.0]
    assert best.sum == one.sum


def test_a_third_of_the_left_rows_have_no_partner() -> None:
    keys = {name: set(table["k"].to_pylist()) for name, table in left(3_000).tables.items()}
    assert not {key for key in keys["A"] if key >= 100_000} & keys["B"]


def test_turns_go_through_all_files_batch_by_batch() -> None:
    with inputs(equi(1_000, "UTC"), 400) as folder:
        batches = list(batches_of(folder))
        assert [len(files) for batch in batches for files in batch.values()] == [FILES] * 10
        assert [file for batch in batches for file in batch["A"]] == sorted((folder / "A").iterdir())


def test_what_spark_cut_in_two_counts_as_one_batch() -> None:
    whole = as_one([Batch(60, 1.0, 5.0, {}), Batch(40, 0.5, 6.0, {})])
    assert (whole.rows, whole.seconds, whole.ended) == (100, 1.5, 6.0)


def test_results_in_files_count_once_however_often_a_query_reports_that_it_waits(tmp_path: Path) -> None:
    workload = equi(10, "UTC")
    rows = pa.table({"k": [1, 2], "a_ts": [3, 4], "b_ts": [5, 6]})
    (results_of(tmp_path) / "batch=1").mkdir(parents=True)
    pq.write_table(rows, results_of(tmp_path) / "batch=1" / "part-00000.parquet")
    common = {"batchId": 1, "durationMs": {}, "timestamp": "2026-07-01T12:00:00.000Z", "observedMetrics": {}}
    reports = [SimpleNamespace(numInputRows=count, **common) for count in (0, 20)]
    found = account(SimpleNamespace(recentProgress=reports), Pipeline("files"), workload, tmp_path)
    assert found.sum == sum_of(rows, workload.checked)
