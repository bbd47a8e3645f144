"""Five hundred micro-batches: memory, state and open files stay flat. Slow, hence a target of its own: make soak."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from dovetail import spark_metrics
from dovetail.runtime.spark.session import spark_session
from dovetail.testing import Push
from tests.spark.feeding import Folder
from tests.spark.queries import build, random_rows

BATCHES = int(os.environ.get("SOAK_BATCHES", "500"))
pytestmark = pytest.mark.slow


def test_memory_state_and_open_files_stay_flat(tmp_path: Path) -> None:
    session = spark_session(cores=2, name="soak", settings={"spark.sql.streaming.numRecentProgressUpdates": "2000"})
    folder = Folder(session, tmp_path, "AB")
    folder.feed([Push({name: random_rows(at * 2 + place, 400, at * 2.5, 3) for place, name in enumerate("AB")})
                 for at in range(BATCHES)])  # fmt: skip
    query = build("A.k = B.k AND A.n = B.n", folder.frames(), partitions=2, order="hold")
    writer = query.spark().writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
    started = writer.trigger(availableNow=True).start()
    readings = []
    while not started.awaitTermination(1):
        readings.append((_memory(), _files()))
    assert started.exception() is None
    batches = spark_metrics(started)
    assert len(batches) >= BATCHES - 1
    _flat([bytes_ for bytes_, _ in readings], 1.25)
    _flat([files for _, files in readings], 1.25)
    _flat([_stored(batch) for batch in batches], 1.25)
    _flat([float(progress.stateOperators[0].memoryUsedBytes) for progress in started.recentProgress], 1.5)
    _flat([float(progress.stateOperators[0].numRowsTotal) for progress in started.recentProgress], 1.25)
    session.stop()


def _workers() -> list[Any]:
    return [child for child in psutil.Process().children(recursive=True) if "python" in child.name()]


def _memory() -> float:
    return float(sum(worker.memory_info().rss for worker in _workers()))


def _files() -> float:
    everyone = psutil.Process().children(recursive=True)
    return float(sum(child.num_fds() for child in everyone if child.is_running()))


def _stored(batch: dict[str, Any]) -> float:
    return float(sum(own["stored"] for bucket in batch["buckets"] for own in bucket["engine"]["streams"].values()))


def _flat(values: list[float], factor: float) -> None:
    """The last fifth is no higher than the second fifth, within a factor."""
    fifth = len(values) // 5
    early, late = max(values[fifth : 2 * fifth]), max(values[-fifth:])
    assert late <= early * factor, f"{early} early, {late} late"
