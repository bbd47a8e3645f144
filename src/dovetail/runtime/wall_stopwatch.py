"""A stopwatch that reads the clock of this machine."""

from dovetail.engine.block.block import Block
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
