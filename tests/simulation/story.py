"""What a seed stands for: a query, the batches of its streams, and what goes wrong; all of it plain values.

The same seed gives the same story. A story is told again without some of its faults or batches, so that a failing
one can be made small.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail.testing import Push, Script, Tick
from tests.simulation.cases import CASES, Case
from tests.spark.queries import SECOND, random_rows

# kind of fault: (whom it strikes, how many sorts of it there are)
KINDS = {
    "attempt dies before it reads": "task",
    "attempt dies while it reads": "task",
    "attempt dies while it writes results": "task",
    "disk full while state is written": "task",
    "attempt dies before the store commits": "task",
    "attempt dies after the store has committed": "task",
    "worker process dies with its attempt": "task",
    "speculative attempt loses": "task",
    "speculative attempt wins": "task",
    "two attempts side by side": "task",
    "bucket moves to another executor": "task",
    "results are lost and made again": "task",
    "worker is started anew": "task",
    "packer dies half-way": "pack",
    "speculative packer": "pack",
    "executor lost during the shuffle": "batch",
    "driver dies after planning a batch": "batch",
    "driver dies in the middle of a batch": "batch",
    "driver dies while the sink is written": "batch",
    "driver dies before the batch is noted as done": "batch",
    "driver dies between batches": "batch",
    "note of the last batch is lost": "batch",
    "query is taken to other partitions": "batch",
    "all is restored from a copy and planned otherwise": "batch",
    "sink fails half-way": "batch",
    "disk full while results are written": "task",
    "no tick comes": "batch",
    "ticks come late": "batch",
}
FAR_S = 600  # when all that waits is due; what comes out of that is not compared
SOURCE_PARTITIONS = 2
SINKS = ("manifest", "files", "function", "native")
TOO_FAR_S = 4000  # more ahead than any stream allows


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong in a batch, at a place (a task), and at a moment that its kind gives meaning to."""

    kind: str
    batch: int
    place: int
    at: int


@dataclass(frozen=True)
class Batch:
    """What sources give in one micro-batch, the time of day at which it was planned, and how often a clock ticks."""

    rows: Mapping[str, pa.Table]
    now_us: int | None
    ticks: int = 1

    def with_next(self, other: "Batch") -> "Batch":
        """Both as one, as sources that had waited would have given them."""
        parts = {name: [b.rows[name] for b in (self, other) if name in b.rows] for name in {*self.rows, *other.rows}}
        rows = {name: pa.concat_tables(parts[name]) for name in sorted(parts)}
        return Batch(rows, other.now_us, self.ticks + other.ticks)

    @property
    def tells_time(self) -> bool:
        """Whether anything comes that has the time with it."""
        return self.now_us is not None and (self.ticks > 0 or bool(self.rows))


@dataclass(frozen=True)
class Story:
    """All that happens."""

    seed: int
    case: str
    partitions: int
    executors: int
    sink: str
    batches: tuple[Batch, ...]
    faults: tuple[Fault, ...]

    def ticking(self, batch: int, ticks: int) -> "Story":
        """The same with another number of ticks in a batch."""
        other = replace(self.batches[batch], ticks=ticks)
        return replace(self, batches=(*self.batches[:batch], other, *self.batches[batch + 1 :]))

    def script(self) -> Script:
        """The same for the oracle, which knows of no faults."""
        events: list[Push | Tick] = []
        for batch in self.batches:
            if batch.rows:
                events.append(Push(batch.rows))
            if batch.tells_time:
                assert batch.now_us is not None
                events.append(Tick(batch.now_us))
        return events


def story_of(seed: int, case: str | None = None) -> Story:
    """The story of a seed."""
    random = np.random.default_rng([seed, 20])
    name = case or list(CASES)[int(random.integers(len(CASES)))]
    partitions, executors = int(random.integers(1, 5)), int(random.integers(2, 4))
    batches = _batches(CASES[name], random, int(random.integers(5, 10)))
    kinds = list(KINDS)
    faults = [
        Fault(kinds[int(random.integers(len(kinds)))], *(int(random.integers(n)) for n in (len(batches), 12, 10)))
        for _ in range(int(random.integers(4, 28)))
    ]
    sinks = SINKS[:3] if CASES[name].others else SINKS
    sink = sinks[int(random.integers(len(sinks)))]
    return Story(seed, name, partitions, executors, sink, tuple(batches), tuple(faults))


def _batches(case: Case, random: np.random.Generator, count: int) -> list[Batch]:
    """Micro-batches that overlap in time, streams that stay silent, sources that repeat, clocks that jump."""
    batches: list[Batch] = []
    now = 1_000 * SECOND
    start, row = 0.0, 0
    for _ in range(count):
        held = {}
        for name in case.names:
            if random.random() < 0.8:
                made = _rows(random, int(random.integers(1, case.rows)), start, row)
                again = [*_repeated(random, case, batches, name), *_too_far(random, case, start, row + 500)]
                held[name] = pa.concat_tables([made, *again])
            row += 1000
        now += int((random.random() * 6 - (10 if random.random() < 0.15 else 0)) * SECOND)
        start += 2.0 if random.random() < 0.9 else 5.0
        batches.append(Batch(held, now if case.clock else None))
    last = {name: _rows(random, 3, FAR_S, 10**6) for name in case.names}
    end = {name: _rows(random, 3, 2 * FAR_S, 2 * 10**6) for name in case.names}
    return [*batches, *(Batch(rows, now if case.clock else None) for rows in (last, end))]


def _rows(random: np.random.Generator, count: int, start: float, first: int) -> pa.Table:
    """Random rows with many equal times."""
    rows = random_rows(int(random.integers(1 << 31)), count, start, 3, first)
    ticks = np.asarray(rows["ts"].cast(pa.int64())) // (SECOND // 4) * (SECOND // 4)
    return rows.set_column(0, rows.schema.field(0), pa.array(ticks).cast(rows.schema.field(0).type))


def _repeated(random: np.random.Generator, case: Case, batches: list[Batch], name: str) -> list[pa.Table]:
    """Now and then a source sends again what it has sent in the batch before, as rows like any others."""
    again = batches and name in batches[-1].rows and random.random() < case.repeats
    return [batches[-1].rows[name].slice(0, 4)] if again else []


def _too_far(random: np.random.Generator, case: Case, start: float, first: int) -> list[pa.Table]:
    """Rows that a clock far ahead has stamped; the first rows of all are taken for the time that it is."""
    if not case.too_far or not start or random.random() < 0.6:
        return []
    return [_rows(random, int(random.integers(1, 3)), start + TOO_FAR_S, first)]
