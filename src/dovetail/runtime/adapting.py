"""The adaptive order at run time: after every batch, measure, decide, tell the engine."""

from collections.abc import Iterator

import pyarrow as pa

from dovetail.control.adapt_order import AdaptOrder
from dovetail.engine.block.block import Block
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.operator.engine import Engine
from dovetail.kernel import wall_time
from dovetail.model.order import Adaptive


class WallStopwatch:
    """Real time; of every block where an adaptive order has to know what it costs."""

    def __init__(self, order: object = "none") -> None:
        self.every = isinstance(order, Adaptive)
        self._started = 0.0

    def begin(self) -> None:
        self._started = wall_time()

    def split(self) -> float:
        return wall_time() - self._started

    def end(self, stream: str, block: Block) -> float:
        return wall_time() - self._started


_LEAST_US = 100_000


class Adapting:
    """Ties one engine to its control; batches of less than a tenth of a second of event time are judged together."""

    def __init__(self, engine: Engine, alpha: float) -> None:
        self._engine = engine
        self.control = AdaptOrder(alpha)
        self._before = self._readings()

    def around(self, results: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Let a batch through, then decide where the next ones wait."""
        yield from results
        if self._engine.latest - self._before[0] < _LEAST_US:
            return
        before, self._before = self._before, self._readings()
        latest, arrived, busy_s, joined = self._before
        passed_us = latest - before[0] if before[0] > BEFORE_ALL else 0
        self.control.observe(
            passed_us / 1e6,
            {name: count - before[1].get(name, 0) for name, count in arrived.items()},
            {name: spent - before[2].get(name, 0.0) for name, spent in busy_s.items()},
            {name: count - before[3].get(name, 0) for name, count in joined.items()},
        )
        self._engine.decide(self.control.decide())

    def _readings(self) -> tuple[int, dict[str, int], dict[str, float], dict[str, int]]:
        engine = self._engine
        return engine.latest, engine.arrived(), dict(engine.busy_s), dict(engine.joined)
