"""The driver of a query: it plans batches, runs their tasks, has the sink written, and notes what is done.

    offsets      what a batch reads; noted before anything of it runs, so that it is repeated with the same rows
                 with the keys that are split in it
    commits      that a batch is done; a start finds the last planned batch, and repeats it unless it is noted here

A driver dies where the story says so, or when a task has failed too often; then another starts. Somebody may stop it
and put back a copy of everything that was made before the last batch; the sources, asked again, then give more at once.
"""

import errno
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dovetail.plan.split_keys import KeySplit, key_splits, splits_keys
from dovetail.runtime.hot_keys import HotKeys
from tests.simulation.cluster import Attempt, Cluster, Killed, Shuffled, Worker
from tests.simulation.move import moved
from tests.simulation.pipeline import Pipeline, pipeline_of
from tests.simulation.sink import Output
from tests.simulation.story import KINDS, SOURCE_PARTITIONS, Batch, Fault, Story

MOST_FAILURES = 4  # of one task, until Spark gives a batch up
_RESTORED = "all is restored from a copy and planned otherwise"
_SIDE_BY_SIDE = {"speculative attempt loses", "speculative attempt wins", "two attempts side by side"}


class DriverDied(Exception):  # noqa: N818
    """The query has ended; ``session`` says whether the executors are still there."""

    def __init__(self, session: bool) -> None:
        super().__init__()
        self.session = session


@dataclass
class Driver:
    """One life of the query after the other, until all batches are done."""

    story: Story
    pipeline: Pipeline
    cluster: Cluster
    sink: Output
    commits: set[int] = field(default_factory=set)
    planned: int = -1
    hot: dict[int, HotKeys] = field(default_factory=dict)  # what offsets say of the keys that a batch splits
    struck: list[Fault] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)
    starts: int = 0

    def run(self) -> None:
        """From the first batch to the last, whatever happens."""
        while len(self.commits) < len(self.story.batches):
            try:
                self._live()
            except DriverDied as died:
                self._start_again(died.session)

    def _live(self) -> None:
        first = self.planned if self.planned >= 0 and self.planned not in self.commits else self.planned + 1
        for batch in range(first, len(self.story.batches)):
            self._move(batch)
            self._plan(batch)
            self._die("driver dies after planning a batch", batch)
            self._write(self._results(batch), batch)
            self._die("driver dies before the batch is noted as done", batch)
            self.commits.add(batch)
            self._die("driver dies between batches", batch)
            lost = self._strike("note of the last batch is lost", batch)
            if lost is not None:
                self.commits.remove(batch)
                raise DriverDied(session=bool(lost.at % 2))
            if batch < len(self.story.batches) - 3 and self._strike(_RESTORED, batch) is not None:
                self._restore(batch)
                return

    def _plan(self, batch: int) -> None:
        """As the source does it that reads files, from samples that have all rows."""
        self.planned = batch
        if batch not in self.hot:
            self._tell_time(batch)
            query, grid, rows = self.pipeline.query, self.cluster.layout.grid, self.story.batches[batch].rows
            packers = {name: replace(packer, grid=grid) for name, packer in self.pipeline.packers.items()}
            parts = {name: table.select(list(packers[name].arriving)) for name, table in rows.items()}
            samples = {name: packers[name].sample(part.to_batches(), part.num_rows) for name, part in parts.items()}
            before = self.hot.get(batch - 1, HotKeys())
            judged = before.next(query, grid, samples, before.frontier(query))
            times = {name: table["ts"].cast(pa.int64()).drop_null() for name, table in rows.items()}
            newest = {name: max(each.to_pylist()) for name, each in times.items() if len(each)}
            splits = splits_keys(query, grid) and not self.pipeline.members
            self.hot[batch] = (judged if splits else before).seen(query, newest)

    def _tell_time(self, batch: int) -> None:
        """A batch without ticks, or one whose ticks come with the next; which it is does not change any more."""
        if self.pipeline.ticks and self._strike("no tick comes", batch) is not None:
            self.story = self.story.ticking(batch, 0)
        if self.pipeline.ticks and self._strike("ticks come late", batch) is not None:
            self.story = self.story.ticking(batch, 0)
            if batch + 1 < len(self.story.batches):
                self.story = self.story.ticking(batch + 1, 2)

    def _splits(self) -> tuple[KeySplit | None, ...]:
        return key_splits(self.pipeline.query, self.cluster.layout.grid)

    def _move(self, batch: int) -> None:
        """Between two batches, or between two tries at one."""
        can_move = batch and self.pipeline.can_move
        fault = self._strike("query is taken to other partitions", batch) if can_move else None
        if fault is not None:
            partitions = 1 + (self.story.partitions + fault.at % 3) % 4
            self.pipeline = self.sink.behind(pipeline_of(self.story.case, partitions))
            self.cluster = moved(self.cluster, self.pipeline, batch, partitions)
            self.story = replace(self.story, partitions=partitions)
            self.hot = {number: replace(hot, keys=()) for number, hot in self.hot.items()}

    def _restore(self, last: int) -> None:
        """The same DataFrame started again in the same session, over a copy of what there was before the last batch."""
        self.commits.remove(last)
        self.planned = last - 1
        self.hot.pop(last)
        self.sink.forget(last)
        for store in self.cluster.stores:
            store.back_to(last)
        batches = self.story.batches
        joined = batches[last].with_next(batches[last + 1])
        self.story = replace(self.story, batches=(*batches[:last], joined, *batches[last + 2 :]))
        self.starts += 1

    def _start_again(self, session: bool) -> None:
        if not session:
            for executor in range(len(self.cluster.workers)):
                self.cluster.lose(executor)
        self.sink.start()
        self.cluster.start()
        self.starts += 1

    def _strike(self, kind: str, batch: int) -> Fault | None:
        """A fault of this kind that the story has for this batch, each once."""
        for fault in self._left(batch):
            if fault.kind == kind:
                self.struck.append(fault)
                return fault
        return None

    def _left(self, batch: int) -> Iterator[Fault]:
        return (fault for fault in self.story.faults if fault.batch == batch and fault not in self.struck)

    def _die(self, kind: str, batch: int) -> None:
        fault = self._strike(kind, batch)
        if fault is not None:
            raise DriverDied(session=bool(fault.at % 2))

    def _write(self, made: Sequence[Attempt], batch: int) -> None:
        for kind in ("sink fails half-way", "driver dies while the sink is written"):
            fault = self._strike(kind, batch)
            if fault is not None:
                self.sink.fails_at = fault.at
                break
        try:
            self.sink.take([frame for attempt in made for frame in attempt.frames], self.pipeline, batch)
        except Killed:
            raise DriverDied(session=fault is not None and fault.kind == "sink fails half-way") from None
        finally:
            self.sink.fails_at = None

    def _results(self, number: int) -> list[Attempt]:
        """A batch up to its last step: pack, shuffle, join."""
        batch = self.story.batches[number]
        packed = self._packed(batch, number)
        made: list[Attempt] = []
        dies = self._strike("driver dies in the middle of a batch", number)
        lost = self._strike("executor lost during the shuffle", number)
        for partition in range(self.story.partitions):
            if dies is not None and partition == dies.at % self.story.partitions:
                raise DriverDied(session=bool(dies.place % 2))
            if lost is not None and partition == lost.place % self.story.partitions:
                packed = self._packed_again(batch, packed, lost.at % self.story.executors)
            made.append(self._joined(partition, number, self._read(packed, partition, batch)))
        return made

    def _packed(self, batch: Batch, number: int) -> list[Shuffled]:
        """Every packer's part of the shuffle."""
        made = []
        for place in range(len(self.pipeline.query.names) * SOURCE_PARTITIONS):
            made.append(self._pack(batch, place))
            for fault in [each for each in self._left(number) if KINDS[each.kind] == "pack"]:
                if fault.place % (len(self.pipeline.query.names) * SOURCE_PARTITIONS) == place:
                    self.struck.append(fault)
                    self._pack_otherwise(batch, place, fault, made[-1])
        return made

    def _pack_otherwise(self, batch: Batch, place: int, fault: Fault, made: Shuffled) -> None:
        """Another attempt at what a packer has made: one that dies, or one that must come to the same."""
        if fault.kind == "speculative packer":
            self._compare(made, self._pack(batch, place))
        else:
            with suppress(Killed):
                self._pack(batch, place, dies_at=fault.at)
                raise AssertionError("a packer that was told to die did not")

    def _pack(self, batch: Batch, place: int, dies_at: int | None = None) -> Shuffled:
        stream, source = divmod(place, SOURCE_PARTITIONS)
        routes = self.hot[self.planned].routes(self._splits())
        return self.cluster.packed(batch, stream, source, routes, dies_at)

    def _packed_again(self, batch: Batch, packed: Sequence[Shuffled], executor: int) -> list[Shuffled]:
        """What an executor had made is lost with it; other tasks may have read it already."""
        self.cluster.lose(executor)
        again = list(packed)
        for place in range(len(packed)):
            if place % self.story.executors == executor:
                again[place] = self._pack(batch, place)
                self._compare(packed[place], again[place])
        return again

    def _compare(self, one: Shuffled, other: Shuffled) -> None:
        if one != other:
            self.oddities.append("a packer made something else of the same rows")

    def _read(self, packed: Sequence[Shuffled], partition: int, batch: Batch) -> Shuffled:
        """The part of the shuffle that belongs to one partition."""
        ticks = [self.cluster.ticked(batch)] * batch.ticks if self.pipeline.ticks else []
        parts = [*packed, *ticks]
        return [row for part in parts for row in part if self.cluster.owner(row.bucket) == partition]

    def _joined(self, partition: int, number: int, rows: Shuffled) -> Attempt:
        """The attempts at one partition, as the story has them; the one whose results count."""
        task = _Task(self, partition, number, rows, (partition + self.starts) % self.story.executors)
        faults = [fault for fault in self._left(number) if KINDS[fault.kind] == "task"]
        rivals = None
        for fault in faults:
            if fault.place % self.story.partitions == partition:
                self.struck.append(fault)
                rivals = task.suffer(fault) or rivals
        good = rivals or task.commit(task.begin(task.home).finish())
        for fault in task.lost:
            good = task.commit(task.begin(task.home + 1 + fault.at).finish())
        return good


@dataclass
class _Task:
    """One partition of one batch, and what its attempts go through."""

    driver: Driver
    partition: int
    number: int
    rows: Shuffled
    home: int
    failures: int = 0
    attempts: int = 0
    lost: list[Fault] = field(default_factory=list)

    def worker(self, executor: int) -> Worker:
        return self.driver.cluster.workers[executor % self.driver.story.executors]

    def begin(self, executor: int, full_at: int | None = None, breaks_at: int | None = None) -> Attempt:
        self.attempts += 1
        dice = np.random.default_rng([self.driver.story.seed, self.number, self.partition, self.attempts])
        cluster = self.driver.cluster
        return cluster.attempt(self.partition, self.number, self.rows, self.worker(executor), dice, full_at, breaks_at)

    def commit(self, attempt: Attempt) -> Attempt:
        self.driver.cluster.stores[self.partition].commit(attempt.transaction)
        return attempt

    def suffer(self, fault: Fault) -> Attempt | None:
        """What a fault does; an attempt if it leaves one whose results count."""
        if fault.kind == "bucket moves to another executor":
            self.home += 1 + fault.at
        elif fault.kind == "worker is started anew":
            self.worker(self.home).restart()
        elif fault.kind == "results are lost and made again":
            self.lost.append(fault)
        elif fault.kind in _SIDE_BY_SIDE:
            return self._rivals(fault)
        else:
            self._fail(fault)
            self.failures += 1
            if self.failures == MOST_FAILURES:
                raise DriverDied(session=True)
        return None

    def _fail(self, fault: Fault) -> None:
        """An attempt that comes to nothing; the next may be at home or elsewhere."""
        with suppress(Killed, OSError):
            self._begin_failing(fault)
        if fault.kind == "worker process dies with its attempt":
            self.worker(self.home).restart()
        self.home += fault.at % 2

    def _begin_failing(self, fault: Fault) -> None:
        kind, at = fault.kind, fault.at
        full_at = at * 2 if kind == "disk full while state is written" else None
        attempt = self.begin(self.home, full_at, at if kind == "attempt dies while it reads" else None)
        if kind == "attempt dies before it reads":
            return
        if kind in ("attempt dies while it writes results", "worker process dies with its attempt"):
            for _ in range(at % 4):
                attempt.step()
            attempt.steps.close()  # type: ignore[attr-defined]
            return
        with _full_disk() if kind == "disk full while results are written" else nullcontext():
            attempt.finish()
        if kind == "attempt dies after the store has committed":
            self.commit(attempt)

    def _rivals(self, fault: Fault) -> Attempt:
        """Two attempts that both come to their end; either may be the last to commit, and either's results count."""
        first, second = self.begin(self.home), self.begin(self.home + 1 + fault.at % 2)
        if first.worker is second.worker:
            second = self.begin(self.home + 1)
        if fault.kind == "two attempts side by side":
            while not (first.done and second.done):
                for rival in (first, second):
                    if not rival.done:
                        rival.step()
        else:
            for rival in (first, second):
                rival.finish()
        for rival in (first, second) if fault.at % 2 else (second, first):
            self.commit(rival)
        return second if fault.kind == "speculative attempt wins" else first


def _full_disk() -> AbstractContextManager[object]:
    """Inside, no task can write results to a file."""
    return patch.object(pq.ParquetWriter, "write_table", side_effect=OSError(errno.ENOSPC, "no space left on device"))
