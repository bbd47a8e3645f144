"""Five hundred micro-batches: memory, state and open files stay flat. Slow, hence a target of its own: make soak."""

import os
from collections.abc import Callable
from contextlib import suppress
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
    settings = {
        "spark.sql.streaming.numRecentProgressUpdates": "2000",
        # what RocksDB lets wait in memory before it writes, and what it keeps of what it has read: with its 64 and 8 MB
        # neither would be full by the end of this test
        "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB": "1",
        "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB": "1",
    }
    session = spark_session(cores=2, name="soak", settings=settings)
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
    memory = [float(progress.stateOperators[0].memoryUsedBytes) for progress in started.recentProgress]
    assert max(memory) < 6 << 20, "two stores, each with a buffer that fills, one that is written, a cache and indexes"
    _flat(memory, 1.25)
    _flat([float(progress.stateOperators[0].numRowsTotal) for progress in started.recentProgress], 1.25)
    session.stop()


def _memory() -> float:
    """Of the workers."""
    return _sum_over_children(lambda child: child.memory_info().rss if "python" in child.name() else 0)


def _files() -> float:
    return _sum_over_children(lambda child: child.num_fds())


def _sum_over_children(measured: Callable[[psutil.Process], int]) -> float:
    """Workers come and go: one that is gone by the time it is looked at has nothing."""
    total = 0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += measured(child)
    return float(total)


def _stored(batch: dict[str, Any]) -> float:
    return float(sum(own["stored"] for bucket in batch["buckets"] for own in bucket["engine"]["streams"].values()))


def _flat(values: list[float], factor: float) -> None:
    """The last fifth is no higher than the second fifth, within a factor."""
    fifth = len(values) // 5
    early, late = max(values[fifth : 2 * fifth]), max(values[-fifth:])
    assert late <= early * factor, f"{early} early, {late} late"
