"""A week in minutes: started anew, changed and moved over and over, a query loses nothing and stays as small as it was.

SOAK_HOURS and SOAK_RATE make it longer or shorter. Slow, hence a target of its own: make soak.
"""

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.runtime.start_reports import start_reports
from tests.soak.week import PER_HOUR, SCHEMA, Chunk, flat, week

HOURS = int(os.environ.get("SOAK_HOURS", "168"))
RATE = float(os.environ.get("SOAK_RATE", "1500"))
ON = "A.k = B.k AND (A.n + B.n) % 50 = 0"
pytestmark = pytest.mark.slow

WAYS: list[dict[str, Any]] = [  # what the query is changed to, one after the other; the rows are the same
    {},
    {"order": "hold"},
    {"order": "none", "algorithm": "sorted"},
    {"order": "adaptive"},
    {"order": "sync"},
]


def query(data: dict[str, Any] | None = None, idle: str | None = "30 minutes", **options: Any) -> dv.Query:
    settings: dict[str, Any] = {"time": "ts", "window": "20 minutes", "delay": "2 minutes", "idle": idle}
    streams = [dv.stream(name, (data or {}).get(name), schema=SCHEMA, **settings) for name in "AB"]
    return dv.join(*streams, on=ON, select="A.row AS a, B.row AS b", **options)


class Seen:
    """How many results there were, and a sum that tells others from these."""

    def __init__(self) -> None:
        self.count = self.sum = 0

    def add(self, rows: pa.Table) -> None:
        self.count += rows.num_rows
        a, b = (rows[name].to_numpy().astype(np.uint64) for name in "ab")
        mixed = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b * np.uint64(0xC2B2AE3D27D4EB4F))
        self.sum += int(np.bitwise_xor(mixed, mixed >> np.uint64(29)).sum(dtype=np.uint64))

    def told(self) -> tuple[int, int]:
        return self.count, self.sum % 2**64


def pushed(run: Any, chunk: Chunk, seen: Seen) -> None:
    for name, rows in chunk.rows.items():
        seen.add(run.push(name, rows))
    seen.add(run.tick(chunk.now_us))


def test_a_week_embedded(tmp_path: Path) -> None:
    """Started anew every three hours, from its own snapshot or as another query; beside one that is left alone."""
    process, old = psutil.Process(), query()
    run, alone = old.local(threads=1), query().local(threads=1)
    start_reports(run, old, "soak", tmp_path)
    seen, expected = Seen(), Seen()
    readings: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for at, chunk in enumerate(week(HOURS, seed=1, rate=RATE), 1):
        pushed(run, chunk, seen)
        pushed(alone, chunk, expected)
        stored = sum(stream["stored"] for stream in run.metrics()["streams"].values())
        readings["tuples"].append((chunk.hour, stored))
        readings["memory"].append((chunk.hour, process.memory_info().rss))
        readings["descriptors"].append((chunk.hour, process.num_fds()))
        if at % (3 * PER_HOUR) == 0:
            left, new = run.snapshot(), query(**WAYS[at // (6 * PER_HOUR) % len(WAYS)])
            run, old = new.resume(left, of=old, threads=1 + at % 2), new
            start_reports(run, old, "soak", tmp_path)
            readings["bytes per tuple"].append((chunk.hour, len(left) / stored))
    seen.add(run.close())
    expected.add(alone.close())
    assert seen.told() == expected.told()
    assert expected.count > HOURS
    for name, values in readings.items():
        flat(name, values, spare=5 if name == "descriptors" else 0)
    assert len(list(tmp_path.iterdir())) <= 400, "reports of runs that are over are taken away"


def test_a_week_on_spark(tmp_path: Path) -> None:
    """An hour in a batch: started anew every six hours, and every day with other partitions; the sink is one folder."""
    from dovetail.runtime.spark.session import spark_session
    from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS

    session = spark_session(cores=2, name="week")
    for name in "AB":
        (tmp_path / name).mkdir()
    alone, made = _over(tmp_path).local(threads=1), Seen()
    readings: dict[str, list[tuple[float, float]]] = defaultdict(list)
    partitions, days = 2, 0
    for at, chunk in enumerate(week(HOURS, seed=2, rate=RATE / 10)):
        for name, rows in chunk.rows.items():
            pq.write_table(rows, tmp_path / name / f"{at:06}.parquet")
            made.add(alone.push(name, rows))
        if (at + 1) % (6 * PER_HOUR):
            continue
        checkpoint = tmp_path / f"checkpoint_{days}"
        if at + 1 >= (days + 1) * 24 * PER_HOUR:
            days, before = days + 1, checkpoint
            checkpoint, partitions = tmp_path / f"checkpoint_{days}", 5 - partitions
            session.conf.set(SHUFFLE_PARTITIONS, str(partitions))
            _over(tmp_path).migrate(str(before), str(checkpoint), session=session)
        started = _over(tmp_path).write(
            dv.parquet(tmp_path / "out"), str(checkpoint), trigger={"availableNow": True}, session=session
        )
        started.awaitTermination()
        children = psutil.Process().children(recursive=True)
        readings["memory"].append((chunk.hour, float(sum(child.memory_info().rss for child in children))))
        readings["descriptors"].append((chunk.hour, float(sum(child.num_fds() for child in children))))
        readings["state files"].append((chunk.hour, float(sum(1 for _ in (checkpoint / "state").rglob("*")))))
    session.stop()
    found = Seen()
    for file in (tmp_path / "out").glob("batch=*/*.parquet"):
        found.add(pq.ParquetFile(file).read())
    assert found.told() == made.told()
    assert made.count
    for name, values in readings.items():
        flat(name, values, factor=1.5)


def _over(path: Path) -> dv.Query:
    """Without ``idle``: how long a stream is silent would be the machine's time."""
    return query({name: dv.files(path / name, max_files=PER_HOUR) for name in "AB"}, idle=None)
