"""Executors, their workers with a cache each, and the attempts of tasks that run on them.

An attempt is driven step by step, so that it can stop anywhere and two can run side by side. Everything that an attempt
calls is the real thing: packers, processor, operator, state code.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa

from dovetail.control import controller
from dovetail.runtime.deal import Route
from dovetail.runtime.spark import operator, pack
from dovetail.runtime.spark.bucket_numbers import murmur3_int
from dovetail.runtime.spark.cache import EngineCache
from dovetail.runtime.spark.left_files import LeftLearned, LeftSlices
from dovetail.runtime.spark.pack import ticks
from dovetail.runtime.spark.packed import SHUFFLED
from dovetail.runtime.spark.processor import JoinProcessor
from tests.simulation.pipeline import Pipeline, task
from tests.simulation.store import PartitionStore, Transaction
from tests.simulation.story import SOURCE_PARTITIONS, Batch

Shuffled = list[Any]  # packed rows, as Spark carries them: every column but the one that stays before the shuffle
_NAMED: Any = namedtuple
_ROW, _TIMED = _NAMED("_ROW", SHUFFLED), _NAMED("_TIMED", [*SHUFFLED, "now"])


class Meter:
    """CPU seconds as a process measures them: some more at every reading, as chance has it."""

    def __init__(self) -> None:
        self._dice, self._read = np.random.default_rng(0), 0.0

    def __call__(self) -> float:
        self._read += float(self._dice.exponential(0.02))
        return self._read


class Killed(Exception):  # noqa: N818
    """An attempt that was told to fail."""


@dataclass
class Worker:
    """A Python process: what it keeps between tasks is its cache."""

    executor: int
    folder: Path | None = None  # where it leaves slices and what it has learned for other workers
    meter: Callable[[], float] = field(default_factory=Meter)
    engines: EngineCache = field(default_factory=lambda: EngineCache(limit=64))

    def restart(self) -> None:
        """Another process in its place."""
        self.engines = EngineCache(limit=64)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside, code runs in this process."""
        slices = None if self.folder is None else LeftSlices(self.folder / "slices")
        learned = None if self.folder is None else LeftLearned(self.folder / "learned")
        with (
            patch.object(operator, "ENGINES", self.engines),
            patch.object(LeftSlices, "here", lambda: slices),
            patch.object(LeftLearned, "here", lambda run: learned),
            patch.object(controller, "cpu_time", self.meter),
        ):
            yield


@dataclass
class Attempt:
    """One try at one partition of one batch; it has ``frames`` once it has run to its end."""

    worker: Worker
    transaction: Transaction
    steps: Iterator[pd.DataFrame]
    partition: tuple[int, int]
    frames: list[pd.DataFrame] = field(default_factory=list)
    done: bool = False

    def step(self) -> bool:
        """One more frame of results, if there is one."""
        with self.worker.running(), task(*self.partition):
            frame = next(self.steps, None)
        if frame is None:
            self.done = True
        else:
            self.frames.append(frame)
        return not self.done

    def finish(self) -> "Attempt":
        """To its end."""
        while self.step():
            pass
        return self


@dataclass
class Cluster:
    """All executors, and the state of all partitions."""

    pipeline: Pipeline
    partitions: int
    workers: list[Worker]
    stores: list[PartitionStore]
    run: int = 0
    processor: Any = None
    layout: Any = None
    initial: dict[int, pd.DataFrame] = field(default_factory=dict)  # what buckets begin with, before the first batch
    folder: Any = None  # where workers leave rows and slices for each other, if all are on one machine

    @classmethod
    def of(cls, pipeline: Pipeline, partitions: int, executors: int) -> "Cluster":
        stores = [PartitionStore() for _ in range(partitions)]
        folder = TemporaryDirectory() if executors == 2 else None
        workers = [Worker(number, None if folder is None else Path(folder.name)) for number in range(executors)]
        cluster = cls(pipeline, partitions, workers, stores, folder=folder)
        cluster.start()
        return cluster

    def start(self) -> None:
        """A driver starts the query: every start is a run of its own."""
        self.run += 1
        with task(0, self.partitions):
            self.layout = self.pipeline.job.layouts.here()
        self.processor = JoinProcessor(replace(self.pipeline.job, run=f"run {self.run}"), self.pipeline.output)

    def lose(self, executor: int) -> None:
        """An executor is gone with all it had; another takes its number."""
        self.workers[executor].restart()
        for store in self.stores:
            store.lose(executor)

    def packed(
        self, batch: Batch, stream: int, source: int, routes: tuple[Route, ...] = (), dies_at: int | None = None
    ) -> Shuffled:
        """What the packer of one source partition makes; with ``dies_at``, it dies there, or at its end."""
        name = self.pipeline.query.names[stream]
        with task(stream * SOURCE_PARTITIONS + source, self.partitions):
            here = {"grid": self.layout.grid, "numbers": self.layout.numbers, "routes": routes}
            packer = replace(self.pipeline.packers[name], **here)
            rows = _share(batch.rows.get(name), source, packer.arriving)
            with _left_in(self.folder):
                made = list(packer(_dying(rows, dies_at)))
        return _shuffled(made, batch.now_us)

    def ticked(self, batch: Batch) -> Shuffled:
        """What the clock sends to every bucket."""
        one = pa.RecordBatch.from_pydict({"value": [1]})
        return _shuffled(list(ticks([one], self.layout.numbers)), batch.now_us)

    def attempt(
        self,
        partition: int,
        version: int,
        rows: Shuffled,
        worker: Worker,
        dice: np.random.Generator,
        full_at: int | None = None,
        breaks_at: int | None = None,
    ) -> Attempt:
        """An attempt at a partition, nothing of it done so far; ``dice`` says in which order blocks come in.

        Reading breaks at a frame, the disk is full at an operation of the state, if so told.
        """
        transaction = self.stores[partition].open(version, worker.executor, full_at)
        begins = [bucket for bucket in self.initial if version == 0 and self.owner(bucket) == partition]
        before = {bucket: self.initial[bucket] for bucket in begins}
        steps = _steps(copy(self.processor), transaction, rows, dice, breaks_at, before)
        return Attempt(worker, transaction, steps, (partition, self.partitions))

    def owner(self, bucket: int) -> int:
        """The partition that Spark's shuffle sends a bucket to."""
        return murmur3_int(bucket) % self.partitions


@contextmanager
def _left_in(folder: Any) -> Iterator[None]:
    """Inside, packers leave all rows in files, or none."""
    with patch.object(pack, "batch_folder", lambda: folder and Path(folder.name)), patch.object(pack, "LEAST_BYTES", 0):
        yield


def _steps(
    processor: JoinProcessor,
    transaction: Any,
    rows: Shuffled,
    dice: np.random.Generator,
    breaks_at: int | None,
    initial: Mapping[int, pd.DataFrame],
) -> Iterator[pd.DataFrame]:
    """A task as Spark's worker runs it: every key with its rows, in frames of any size and in any order."""
    processor.init(transaction)
    timers: Any = None
    for bucket, frame in initial.items():
        transaction.key = (bucket,)
        processor.handleInitialState((bucket,), frame, timers)
    for bucket in sorted({row.bucket for row in rows}):
        transaction.key = (bucket,)
        own = [row for row in rows if row.bucket == bucket]
        own = [own[at] for at in dice.permutation(len(own))]
        cut = int(dice.integers(1, len(own) + 1))
        frames = [Frame(own[at : at + cut]) for at in range(0, len(own), cut)]
        yield from processor.handleInputRows((bucket,), _breaking(frames, breaks_at), timers)
    processor.close()


@dataclass(frozen=True)
class Frame:
    """As much of a pandas frame as the operator asks for."""

    rows: Shuffled

    def itertuples(self, index: bool) -> Iterator[Any]:
        return iter(self.rows)


def _breaking(frames: Sequence[Any], breaks_at: int | None) -> Iterator[Any]:
    for at, frame in enumerate(frames):
        if breaks_at is not None and at == breaks_at % len(frames):
            raise Killed("reading")
        yield frame


def _share(rows: pa.Table | None, source: int, columns: Sequence[str]) -> list[pa.RecordBatch]:
    """The rows of one source partition: halves of a stream's batch, in order of arrival."""
    if rows is None:
        return []
    half = -(-rows.num_rows // SOURCE_PARTITIONS)
    own: list[pa.RecordBatch] = rows.select(list(columns)).slice(source * half, half).to_batches(max_chunksize=5)
    return own


def _dying(batches: Iterable[pa.RecordBatch], dies_at: int | None) -> Iterator[pa.RecordBatch]:
    for at, batch in enumerate(batches):
        if at == dies_at:
            raise Killed("a packer")
        yield batch
    if dies_at is not None:
        raise Killed("a packer")


def _shuffled(made: Sequence[pa.RecordBatch], now_us: int | None) -> Shuffled:
    rows = [row for batch in made for row in batch.select(list(SHUFFLED)).to_pylist()]
    return [_ROW(**row) if now_us is None else _TIMED(**row, now=now_us) for row in rows]
