"""A pipeline on Spark reports: what the page shows of it is what happened, with its plan, and after a restart too."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dovetail as dv
from dovetail.dashboard.server import Board
from dovetail.observe.buckets import Buckets
from dovetail.runtime.spark.metrics import spark_metrics
from dovetail.runtime.spark.reporting import SparkReporting
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build


def shown(folder: Path, name: str) -> dict[str, Any]:
    board = Board(folder)
    board.look()
    found = board.join(name, 25, "")
    assert found is not None
    return found


@pytest.mark.spark
def test_the_page_shows_what_a_pipeline_did(spark: Any, tmp_path: Path) -> None:
    folder, reports = Folder(spark, tmp_path, "AB"), tmp_path / "reports"
    query = build("A.k = B.k", folder.frames(), partitions=2)
    results = 0
    for seed in (3, 4):
        folder.feed(random_batches("AB", seed=seed, batches=2))
        started = folder.run(query.spark())
        watching = dv.report(started, query, name="pairs", folder=reports)
        watching.see(folder.rows(query).slice(0, 3))
        watching.finish()
        results = sum(batch["results"] for batch in spark_metrics(started))
        assert watching.lost == 0
    found = shown(reports, "pairs")
    assert found["state"] == "ended"
    assert found["runtime"] == "spark"
    assert len(found["restarts"]) == 1
    assert found["results"] == results > 0
    assert {row["name"] for row in found["streams_shown"]["rows"]} == {"A", "B"}
    assert all(row["rows"] > 0 and row["stored"] >= 0 for row in found["streams_shown"]["rows"])
    assert found["batch"]["seconds"] > 0
    assert found["buckets"] == 2
    assert found["plans"][0]["streams"].keys() == {"A", "B"}
    assert found["plans"][0]["measured"]["cost"] >= 0
    assert len(found["recent"]["rows"]) == 3


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
