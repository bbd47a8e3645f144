"""Pipelines that differ little, run side by side in one session, taking turns batch by batch.

The machine's speed changes within minutes by more than such pipelines differ. Here each gets the files of a batch when
it is its turn, so that of every batch all are measured within seconds of each other; and of each batch the fastest of
several rounds counts. Pipelines that wait look for files now and then, which is why they do so rarely.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.alone import alone
from benchmarks.files import FILES
from benchmarks.peer_spark import Pipeline, started
from benchmarks.spark_runs import Batch, Measured, account, session_for
from benchmarks.workloads import Workload

LOOK_EVERY = {"spark.sql.streaming.pollingDelay": "500ms"}

Arrivals = dict[str, list[Path]]


def measure_in_turns(
    pipelines: Mapping[str, Pipeline], workload: Workload, folder: Path, rounds: int
) -> dict[str, Measured]:
    """Of each batch the fastest of so many rounds; a round before them warms up and is the one that is observed."""
    print(f"{workload.name}: {', '.join(map(str, pipelines.values()))}, in turns ...", file=sys.stderr, flush=True)
    return alone(_rounds, dict(pipelines), workload.bare(), folder, rounds)


def _rounds(pipelines: Mapping[str, Pipeline], workload: Workload, folder: Path, rounds: int) -> dict[str, Measured]:
    bare = {name: replace(pipeline, observed=False) for name, pipeline in pipelines.items()}
    with session_for(next(iter(pipelines.values())), **LOOK_EVERY) as session:
        fastest = _round(session, pipelines, workload, folder)
        for _ in range(rounds):
            again = _round(session, bare, workload, folder)
            fastest = {name: found.at_best(again[name]) for name, found in fastest.items()}
    return fastest


def _round(session: Any, pipelines: Mapping[str, Pipeline], workload: Workload, folder: Path) -> dict[str, Measured]:
    """All batches once; who begins changes from batch to batch."""
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-", dir=folder.parent) as place:
        lanes = {
            name: Lane.start(session, pipeline, workload, Path(place) / name) for name, pipeline in pipelines.items()
        }
        for number, arrivals in enumerate(batches_of(folder)):
            turns = list(lanes.values())
            for lane in turns[number % len(turns) :] + turns[: number % len(turns)]:
                lane.take(arrivals)
        return {name: lane.end() for name, lane in lanes.items()}


def batches_of(folder: Path) -> Iterator[Arrivals]:
    """The files of one micro-batch after the other, by stream."""
    files = {stream.name: sorted(stream.iterdir()) for stream in sorted(folder.iterdir())}
    for at in range(0, max(map(len, files.values())), FILES):
        yield {name: of_stream[at : at + FILES] for name, of_stream in files.items()}


@dataclass
class Lane:
    """A running pipeline with folders of its own; ``batches``: one for each turn it took."""

    query: Any
    pipeline: Pipeline
    workload: Workload
    place: Path
    batches: list[Batch] = field(default_factory=list)
    seen: int = 0

    @classmethod
    def start(cls, session: Any, pipeline: Pipeline, workload: Workload, place: Path) -> "Lane":
        """Wait for files."""
        for name in workload.tables:
            (place / name).mkdir(parents=True)
        query = started(pipeline, session, workload, place, place / "checkpoint")
        return cls(query, pipeline, workload, place)

    def take(self, arrivals: Arrivals) -> None:
        """One batch; if Spark saw one stream's files before the other's and made two of it, both count."""
        for stream, files in arrivals.items():
            for file in files:
                os.link(file, self.place / stream / file.name)
        self.query.processAllAvailable()
        told = account(self.query, replace(self.pipeline, observed=False), self.workload, self._checkpoint).batches
        self.batches.append(as_one([batch for batch in told[self.seen :] if batch.rows]))
        self.seen = len(told)

    @property
    def _checkpoint(self) -> Path:
        return self.place / "checkpoint"

    def end(self) -> Measured:
        """Stop it; count and checksum are those of all batches."""
        total = account(self.query, self.pipeline, self.workload, self._checkpoint).sum
        self.query.stop()
        return Measured(self.batches, total)


def as_one(batches: list[Batch]) -> Batch:
    """Batches after each other as if they had been one."""
    last = batches[-1]
    return replace(last, rows=sum(of.rows for of in batches), seconds=sum(of.seconds for of in batches))
