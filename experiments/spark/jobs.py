"""What workers are given in the place of the usual job: the same operator, measured by what it does.

All of it is inside Spark's stateful operator, in its Python workers; reports carry what was counted to the driver.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

from dovetail.control.schedule import schedule_windows
from dovetail.control.steered import Steered
from dovetail.control.steered_group import SteeredGroup
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.block.block import Block
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Engine, Rows
from dovetail.engine.operator.group import MANY_ARRIVALS, Group, Setup
from dovetail.engine.policies.spill.choose import AtRandom
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.wall_stopwatch import WallStopwatch


@dataclass(frozen=True)
class Metered(Job):
    """CPU time is what the join has itself compared, so many tuples a second; ``compared`` is reported."""

    capacity: float = inf

    def operator(self, parts: StateParts) -> Operator:
        engine = Engine(self.plan, WallStopwatch(self.plan.query.order))
        return _Counting(engine, self.plan.query, lambda: _compared(engine) / self.capacity)


class _Counting(Steered):
    operator: Engine

    def metrics(self) -> dict[str, Any]:
        return super().metrics() | {"compared": _compared(self.operator)}


def _compared(engine: Engine) -> int:
    (readings,) = engine.statistics()
    assert readings.shedding is not None, "only queries with a CPU budget are metered"
    return int(readings.shedding.counts["compared"])


@dataclass(frozen=True)
class Reckoned(Job):
    """Joining a tuple takes ``compare_s`` for each tuple of the other window; ``worked``: which, and how long."""

    compare_s: float = 1e-6

    def operator(self, parts: StateParts) -> Operator:
        stopwatch = _Reckoning(self.compare_s)
        engine = Engine(self.plan, stopwatch, block_rows=1)
        (readings,) = engine.statistics()
        stopwatch.windows = readings.line.store.windows
        return _Working(engine, self.plan.query, stopwatch)


class _Reckoning:
    """A stopwatch that counts what a tuple is compared with."""

    every = True

    def __init__(self, compare_s: float) -> None:
        self._compare_s = compare_s
        self.windows: Mapping[str, Any] = {}
        self.worked: list[tuple[str, int, float]] = []

    def begin(self) -> None:
        """Time passes only when a tuple is done."""

    def split(self) -> float:
        """Storing takes none of its own."""
        return 0.0

    def end(self, stream: str, block: Block) -> float:
        (other,) = (window for name, window in self.windows.items() if name != stream)
        each = self._compare_s * len(other)
        self.worked += [(stream, time_us, each) for time_us in block.times.tolist()]
        return each * len(block)


class _Working(Steered):
    def __init__(self, engine: Engine, query: Any, stopwatch: _Reckoning) -> None:
        super().__init__(engine, query)
        self._stopwatch = stopwatch

    def metrics(self) -> dict[str, Any]:
        """With what was joined in this batch, and where ordered output waits after it."""
        worked, self._stopwatch.worked = self._stopwatch.worked, []
        (readings,) = self.statistics()
        return super().metrics() | {"worked": worked, "mode": readings.line.inputs.gate.mode}


@dataclass(frozen=True)
class Random(Job):
    """What leaves memory is chosen at random in operators of at most so many streams."""

    most: int = 2

    def operator(self, parts: StateParts) -> Operator:
        operator = super().operator(parts)
        for readings in operator.statistics():
            if len(readings.plan.query.names) <= self.most:
                readings.line.memory.flush_by(AtRandom())  # type: ignore[attr-defined]
        return operator


@dataclass(frozen=True)
class Staged(Job):
    """Arrivals look through their windows one by one; ``left``: how much work was done when results left, by query."""

    def operator(self, parts: StateParts) -> Operator:
        assert self.shared is not None
        group = Group(self.shared, schedule_windows(self.shared), Setup(block_rows=1, eager=False))
        return _Leaving(group)


class _Leaving(SteeredGroup):
    """Does the most urgent piece of work until none is left, and notes when what it makes certain leaves.

    Many arrivals at once only fill the windows.
    """

    def __init__(self, group: Group) -> None:
        super().__init__(group)
        self._left: dict[str, list[float]] = {}

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        self._left, done = {}, 0
        loading = sum(rows.num_rows for rows in blocks.values()) > MANY_ARRIVALS
        self.operator.setup = replace(self.operator.setup, eager=loading)
        yield from super().push(blocks, newest, spans)
        while self.suspended:
            results = list(self.work())
            done += self.operator.worked.found
            for batch in results:
                self._note(batch, done)
            yield from results

    def _note(self, batch: Any, done: int) -> None:
        """Of each query: results, the sum of the moments at which they left, the last of these."""
        for counted in batch["query"].value_counts().to_pylist():
            known = self._left.setdefault(counted["values"], [0, 0.0, 0.0])
            rows = counted["counts"]
            self._left[counted["values"]] = [known[0] + rows, known[1] + rows * done, max(known[2], done)]

    def metrics(self) -> dict[str, Any]:
        return super().metrics() | {"left": self._left}


def metered(capacity: float) -> Any:
    """A job that is made with this capacity."""
    return partial(Metered, capacity=capacity)
