"""A pipeline on Spark reports: page and exporter show what happened, with its plan, and after a restart too."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.dashboard.board import Board
from dovetail.dashboard.prometheus import PrometheusEndpoint
from dovetail.observe.buckets import Buckets
from dovetail.observe.statistics_report import statistics_report
from dovetail.runtime.spark.metrics import OBSERVATION, REPORTS, spark_metrics
from dovetail.runtime.spark.reporting import SparkReporting
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build


def shown(folder: Path, name: str) -> dict[str, Any]:
    board = Board(folder)
    board.look()
    found = board.join(name, 25, "")
    assert found is not None
    return found


def scraped(folder: Path) -> str:
    board = Board(folder)
    board.look()
    endpoint = PrometheusEndpoint(board)
    try:
        return str(urlopen(endpoint.address, timeout=10).read().decode())
    finally:
        endpoint.stop()


@pytest.mark.spark
def test_the_page_shows_what_a_pipeline_did(spark: Any, tmp_path: Path) -> None:
    folder, reports = Folder(spark, tmp_path, "AB"), tmp_path / "reports"
    query = build("A.k = B.k", folder.frames(), partitions=2)
    results: list[int] = []
    for seed in (3, 4):
        folder.feed(random_batches("AB", seed=seed, batches=2))
        writing = query.spark().writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
        started = writing.trigger(availableNow=True).start()
        watching = dv.report(started, query, name="pairs", folder=reports)
        watching.see(pa.table({"k": [1, 2, 3]}))
        started.awaitTermination()
        watching._thread.join(60)
        results.append(sum(batch["results"] for batch in spark_metrics(started)))
        assert watching.lost == 0
    found = shown(reports, "pairs")
    assert (found["state"], found["runtime"], len(found["restarts"])) == ("ended", "spark", 1)
    assert found["results"] == results[-1]
    assert sum(results) > 0
    assert {row["name"] for row in found["streams_shown"]["rows"]} == {"A", "B"}
    assert all(row["rows"] > 0 for row in found["streams_shown"]["rows"])
    assert found["batch"]["seconds"] > 0
    assert found["buckets"] >= 1
    assert found["plans"][0]["streams"].keys() == {"A", "B"}
    assert found["recent"]["rows"][-1]["cells"] == ["3"]
    exported = scraped(reports)
    assert f'dovetail_results_total{{join="pairs",runtime="spark"}} {float(results[-1])}' in exported
    assert 'dovetail_batch_duration_seconds{join="pairs",runtime="spark"}' in exported


class Pretended:
    """A streaming query that failed after it was asked a few times."""

    def __init__(self, progress: list[Any], error: Exception | None = None) -> None:
        self.recentProgress = progress
        self._error = error
        self._asked = 0

    @property
    def lastProgress(self) -> Any:  # noqa: N802  # Spark's name
        return self.recentProgress[-1] if self.recentProgress else None

    @property
    def isActive(self) -> bool:  # noqa: N802  # Spark's name
        self._asked += 1
        return self._asked < 3

    def exception(self) -> Exception | None:
        return self._error


def watched(query: Any, folder: Path) -> SparkReporting:
    reporting = SparkReporting(query, folder, "pairs", {})
    reporting._thread.join(30)
    return reporting


def progress_of(run: Any, number: int, results: int) -> Any:
    """What Spark would hand over of a batch whose one bucket is this run."""
    (readings,) = run.operator.statistics()
    engine = run.metrics() | {"statistics": statistics_report(readings.observed.statistics())}
    packed = {name: {"rows": 20, "null_times": 0, "filtered": 0} for name in "AB"}
    phases = dict.fromkeys(("bytes_written", "load_us", "join_us", "save_us"), 1)
    report = {"bucket": 0, "results": results, "packed": packed, "engine": engine, **phases}
    row = SimpleNamespace(asDict=lambda: {REPORTS: [json.dumps(report)]})
    at = "2026-07-01T12:00:00.000Z"
    return SimpleNamespace(
        batchId=number, timestamp=at, durationMs={"triggerExecution": 500}, observedMetrics={f"{OBSERVATION}1": row}
    )


def test_a_pipeline_has_its_plan_beside_what_was_measured(tmp_path: Path) -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    a, b = (dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB")
    query = dv.join(a, b, on="A.k = B.k")
    run, batches = query.local(), []
    for number in range(3):
        rows = [{"ts": number * 5_000_000 + at * 200_000, "k": at % 4} for at in range(20)]
        results = run.push("A", rows).num_rows + run.push("B", rows).num_rows
        batches.append(progress_of(run, number, results))
    dv.report(Pretended(batches), query, name="pairs", folder=tmp_path)._thread.join(30)
    found = shown(tmp_path, "pairs")
    assert found["results"] == run.metrics()["results"]
    assert {row["name"]: row["rows"] for row in found["streams_shown"]["rows"]} == {"A": 60, "B": 60}
    assert found["batch"] == {"number": 2.0, "seconds": 0.5}
    assert found["plans"][0]["predicted"]["cost"] > 0
    assert found["plans"][0]["measured"]["cost"] > 0


def test_why_a_query_failed_is_its_last_word(tmp_path: Path) -> None:
    assert watched(Pretended([], ValueError("the disk is full\nat java.io")), tmp_path).lost == 0
    found = shown(tmp_path, "pairs")
    assert (found["state"], found["reason"]) == ("failed", "the disk is full")


def test_progress_that_makes_no_sense_costs_only_reports(tmp_path: Path) -> None:
    broken = SimpleNamespace(batchId=1, observedMetrics=None)
    assert watched(Pretended([broken]), tmp_path).lost >= 1
    assert shown(tmp_path, "pairs")["state"] == "ended"


def test_buckets_without_any_report_have_nothing_to_say() -> None:
    report = Buckets().report()
    assert report["results"] == 0
    assert report["streams"] == {}
    assert report["frontier"] is None
