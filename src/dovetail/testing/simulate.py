"""A run on a simulated clock: one server, whose service times are reckoned and not measured.

The join is the real one, one tuple at a time; only its clock is made up. An arrival waits until the
server is free; joining a tuple takes as long as ``service`` says; a result leaves at the moment at
which the run lets it go.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> s, t = (dv.stream(name, time="ts", window="6 seconds", schema=schema) for name in "ST")
    >>> arrivals = [Arrival(1.0, "S", {"ts": 1_000_000, "k": 7}), Arrival(2.0, "T", {"ts": 2_000_000, "k": 7})]
    >>> log = simulate(dv.join(s, t, on="S.k = T.k", order="hold"), arrivals, lambda stream, run: 0.25)
    >>> [(work.stream, work.began, work.ended) for work in log.processed]
    [('S', 1.0, 1.25), ('T', 2.0, 2.25)]
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.api import Query
from dovetail.engine.block.block import Block
from dovetail.engine.operator.engine import Stopwatch
from dovetail.engine.operator.line import Line
from dovetail.plan.physical import Plan
from dovetail.runtime.local import Run


class SimulatedRun(Run):
    """A run that joins one tuple at a time, with two readings that are cheap enough to take after each."""

    def __init__(self, plan: Plan, stopwatch: Stopwatch) -> None:
        super().__init__(plan, stopwatch=stopwatch, block_rows=1)

    def stored(self, stream_name: str) -> int:
        """How many tuples the stream's window holds now."""
        return len(self._line.store.windows[stream_name])

    @property
    def mode(self) -> str:
        """Where ordered output waits now: "sync" at the door, "hold" at the exit."""
        return self._line.inputs.gate.mode

    @property
    def _line(self) -> Line:
        (readings,) = self.operator.statistics()
        return readings.line


Service = Callable[[str, SimulatedRun], float]


@dataclass(frozen=True)
class Arrival:
    """A row of a stream, and the moment (in seconds) at which it comes in."""

    at: float
    stream: str
    row: Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """A tuple and the moment at which the server turned to it, if only to make it wait."""

    arrival: Arrival
    at: float


@dataclass(frozen=True)
class Processed:
    """A tuple and when it was joined; ``turn`` counts the arrivals the server had turned to by then."""

    stream: str
    time_us: int
    began: float
    ended: float
    turn: int


@dataclass(frozen=True)
class Released:
    """A result and the moment at which it left."""

    at: float
    row: Mapping[str, Any]


@dataclass
class Log:
    """What happened when."""

    seen: list[Seen] = field(default_factory=list)
    processed: list[Processed] = field(default_factory=list)
    released: list[Released] = field(default_factory=list)
    modes: list[tuple[float, str]] = field(default_factory=list)


class _Server:
    """The simulated stopwatch: joining a tuple moves the clock."""

    every = True

    def __init__(self, service: Service, log: Log) -> None:
        self.now = 0.0
        self.run: SimulatedRun | None = None
        self._service = service
        self._log = log

    def begin(self) -> None:
        """Nothing to remember: the clock only moves when a tuple is done."""

    def split(self) -> float:
        """Storing takes no time of its own."""
        return 0.0

    def end(self, stream: str, block: Block) -> float:
        assert self.run is not None, "set before the first arrival"
        total = 0.0
        for time_us in block.times.tolist():
            took = self._service(stream, self.run)
            self._log.processed.append(Processed(stream, time_us, self.now, self.now + took, len(self._log.seen)))
            self.now += took
            total += took
        return total


def simulate(query: Query, arrivals: Iterable[Arrival], service: Service) -> Log:
    """Play arrivals, in order of their moments, against one server; ``service`` gives seconds per tuple."""
    log = Log()
    server = _Server(service, log)
    run = server.run = SimulatedRun(query.plan, server)
    for arrival, row in _with_rows(query, sorted(arrivals, key=lambda arrival: arrival.at)):
        server.now = max(server.now, arrival.at)
        log.seen.append(Seen(arrival, server.now))
        for batch in run.push_batches(arrival.stream, row):
            log.released += [Released(server.now, row) for row in batch.to_pylist()]
        if not log.modes or log.modes[-1][1] != run.mode:
            log.modes.append((server.now, run.mode))
    return log


def _with_rows(query: Query, arrivals: Sequence[Arrival]) -> Iterator[tuple[Arrival, pa.Table]]:
    """Each arrival with its row in Arrow's form, made for all at once because that is much quicker."""
    tables = {
        stream.name: pa.Table.from_pylist([dict(a.row) for a in arrivals if a.stream == stream.name], stream.schema)
        for stream in query.model.streams
    }
    numbers = dict.fromkeys(tables, 0)
    for arrival in arrivals:
        yield arrival, tables[arrival.stream].slice(numbers[arrival.stream], 1)
        numbers[arrival.stream] += 1
