"""A week in minutes: started anew, changed and moved over and over, a query loses nothing and stays as small as it was.

SOAK_HOURS (pairs of days) and SOAK_RATE make it longer or shorter. Slow, hence a target of its own: make soak.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.engine.buffer.window import Window
from dovetail.observe import report_file
from dovetail.runtime import hot_keys
from dovetail.runtime.start_reports import start_reports
from dovetail.runtime.threads import pays
from tests.soak.week import PER_HOUR, SCHEMA, Chunk, Readings, week

HOURS = int(os.environ.get("SOAK_HOURS", "168"))
RATE = float(os.environ.get("SOAK_RATE", "1500"))
ON = "A.k = B.k AND (A.n + B.n) % 50 = 0"
pytestmark = pytest.mark.slow

SHORT, LONG = "20 minutes", "25 minutes"
# what the query is changed to, one after the other; but for windows the rows are the same
WAYS: list[dict[str, Any]] = [
    {},
    {"order": "hold"},
    {"order": "hold", "window": LONG},
    {"algorithm": "sorted", "window": LONG},
    {"order": "adaptive", "window": LONG},
    {"order": "sync", "window": LONG},
    {"window": LONG},
]
THREADS = (1, 4)  # four cells: of fewer than three none has so much more than the others that a key is split
SPARE = {"descriptors": 5, "files": 2}


def query(
    data: dict[str, Any] | None = None, idle: str | None = "30 minutes", window: str = SHORT, **options: Any
) -> dv.Query:
    settings: dict[str, Any] = {"time": "ts", "window": window, "delay": "2 minutes", "idle": idle}
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


class Alone:
    """The query beside the one that is tried: its windows change as well, and nothing else does."""

    def __init__(self, new: Callable[..., dv.Query]) -> None:
        self._new, self._query, self.seen = new, new(), Seen()
        self._run = self._query.local(threads=1)

    def push(self, chunk: Chunk, ticks: bool) -> None:
        for name, rows in chunk.rows.items():
            self.seen.add(self._run.push(name, rows))
        if ticks:
            self.seen.add(self._run.tick(chunk.now_us))

    def follow(self, other: dv.Query, window: str) -> None:
        if other.model.streams[0].window != self._query.model.streams[0].window:
            new = self._new(window=window)
            self._run, self._query = new.resume(self._run.snapshot(), of=self._query, threads=1), new

    def close(self) -> None:
        self.seen.add(self._run.close())


@contextmanager
def small() -> Iterator[None]:
    """Inside, small pushes are enough for threads and for keys to be hot, and few reports of runs are kept."""
    with (
        patch.object(pays, "LARGE_ROWS", 50),
        patch.object(hot_keys, "LEAST_ROWS", 200),
        patch.object(report_file, "KEPT_IN_FOLDER", 3),
    ):
        yield


def embedded(folder: Path, hours: int, rate: float, leak: Callable[[], object] = lambda: None) -> Readings:
    """Started anew every three hours, from its own snapshot or as another query, on one thread or on several."""
    process, readings, old = psutil.Process(), Readings(), query()
    run, alone, seen = old.local(threads=1), Alone(query), Seen()
    start_reports(run, old, "soak", folder)
    for at, chunk in enumerate(week(hours, seed=1, rate=rate), 1):
        for name, rows in chunk.rows.items():
            seen.add(run.push(name, rows))
        seen.add(run.tick(chunk.now_us))
        alone.push(chunk, ticks=True)
        leak()
        metrics = run.metrics()
        stored = sum(stream["stored"] for stream in metrics["streams"].values())
        readings.note(chunk.hour, tuples=stored, memory=process.memory_info().rss, descriptors=process.num_fds())
        readings.note(chunk.hour, split=metrics.get("hot_keys", 0), threads=1 + 3 * ("hot_keys" in metrics))
        if at % (3 * PER_HOUR) == 0:
            way, starts = WAYS[at // (6 * PER_HOUR) % len(WAYS)], at // (3 * PER_HOUR)
            left, new = run.snapshot(), query(**way)
            readings.note(chunk.hour, files=len(list(folder.iterdir())), bytes_per_tuple=len(left) / stored)
            run, old = new.resume(left, of=old, threads=THREADS[starts % 2]), new
            alone.follow(new, way.get("window", SHORT))
            start_reports(run, old, "soak", folder)
    seen.add(run.close())
    alone.close()
    assert seen.told() == alone.seen.told()
    assert seen.count > hours
    readings.check_flat(1.25, SPARE)
    return readings


def test_a_week_embedded(tmp_path: Path) -> None:
    with small():
        readings = embedded(tmp_path, HOURS, RATE)
    threads, split = readings.of("threads"), readings.of("split")
    assert threads.count(4) > len(threads) / 3, "half of the starts have threads, which small pushes are enough for"
    on_threads = [(before, now) for of, before, now in zip(threads[1:], split, split[1:], strict=False) if of == 4]
    assert sum(before == 0 < now for before, now in on_threads) >= HOURS // 48, "a key was hot"
    assert sum(before > 0 == now for before, now in on_threads) >= HOURS // 48, "and has cooled"


KEPT: list[object] = []
LEAKS: dict[str, tuple[str, Callable[[], object], Any]] = {
    "rows that are kept": ("memory", lambda: KEPT.append(np.ones(1 << 17)), None),
    "files that stay open": ("descriptors", lambda: KEPT.append(open(os.devnull)), None),  # noqa: SIM115
    "a window that forgets nothing": ("tuples", lambda: None, partial(patch.object, Window, "forget", lambda *_: None)),
    "reports that stay": ("files", lambda: None, partial(patch.object, report_file, "tidy", lambda _: None)),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_noticed(leak: str, tmp_path: Path) -> None:
    what, leaks, patched = LEAKS[leak]
    with small(), (patched or small)(), pytest.raises(AssertionError, match=f"^{what}: "):
        embedded(tmp_path, 48, 60, leaks)
    KEPT.clear()


def test_a_week_on_spark(tmp_path: Path) -> None:
    """An hour in a batch: started anew every six hours, every day with other partitions; the sink is one folder."""
    from dovetail.runtime.spark.metrics import spark_metrics
    from dovetail.runtime.spark.session import spark_session
    from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS

    kept = {"spark.sql.streaming.minBatchesToRetain": "2"}
    session = spark_session(cores=2, name="week", settings=kept)
    for name in "AB":
        (tmp_path / name).mkdir()
    alone, readings, partitions, days = Alone(partial(query, idle=None)), Readings(), 6, 0
    session.conf.set(SHUFFLE_PARTITIONS, str(partitions))
    for at, chunk in enumerate(week(HOURS, seed=2, rate=RATE / 5), 1):
        for name, rows in chunk.rows.items():
            pq.write_table(rows, tmp_path / name / f"{at:06}.parquet")
        alone.push(chunk, ticks=False)
        if at % (6 * PER_HOUR):
            continue
        checkpoint = tmp_path / f"checkpoint_{days}"
        joined = _over(tmp_path, WINDOWS[days % 2])
        started = joined.write(
            dv.parquet(tmp_path / "out"), str(checkpoint), trigger={"availableNow": True}, session=session
        )
        started.awaitTermination()
        readings.note(chunk.hour, **_held_by_children(), state_files=_files(checkpoint / "state"))
        last = [bucket["engine"]["streams"] for bucket in spark_metrics(started)[-1]["buckets"]]
        stored = sum(own["stored"] for streams in last for own in streams.values())
        readings.note(chunk.hour, tuples=stored)
        if at % (24 * PER_HOUR) == 0 and chunk.hour < HOURS - 1:
            days, partitions = days + 1, 8 - partitions
            session.conf.set(SHUFFLE_PARTITIONS, str(partitions))
            new = _over(tmp_path, WINDOWS[days % 2])
            new.migrate(str(checkpoint), str(tmp_path / f"checkpoint_{days}"), of=joined, session=session)
            alone.follow(new, WINDOWS[days % 2])
    session.stop()
    found = Seen()
    for file in (tmp_path / "out").glob("batch=*/*.parquet"):
        found.add(pq.ParquetFile(file).read())
    assert found.told() == alone.seen.told()
    assert found.count
    readings.check_flat(1.5, SPARE)


WINDOWS = (SHORT, LONG)  # of even days and of odd ones


def _over(path: Path, window: str) -> dv.Query:
    """Without ``idle``: how long a stream is silent would be the machine's time."""
    return query({name: dv.files(path / name, max_files=PER_HOUR) for name in "AB"}, idle=None, window=window)


def _files(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def _held_by_children() -> dict[str, float]:
    children = psutil.Process().children(recursive=True)
    memory, descriptors = ([of(child) for child in children] for of in (_memory, psutil.Process.num_fds))
    return {"memory": float(sum(memory)), "descriptors": float(sum(descriptors))}


def _memory(child: psutil.Process) -> int:
    return int(child.memory_info().rss)
