"""When inputs pause: nothing has come for as long as the slowest stream usually takes between two tuples."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.engine.buffer.header import finite


class Pauses:
    """Learns from ticks; ``now``: inputs pause and there may be work to do.

    ``lasts``: the first work of this pause is done; ``settled``: all of it is, and nothing is left to do in it.

    >>> pauses = Pauses()
    >>> [pauses.tick(now, {"A": rows, "B": 2 * rows}) for now, rows in ((0, 1), (10, 3), (20, 5), (23, 5), (24, 5))]
    [False, False, False, False, True]
    """

    def __init__(self) -> None:
        self._began: int | None = None
        self._heard = 0
        self._rows = 0
        self.now = self.lasts = self.settled = False

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> bool:
        """Whether inputs pause at this time, so many rows of each stream having come."""
        rows = sum(arrived.values())
        if self._began is None or rows != self._rows:
            self._began = now_us if self._began is None else self._began
            self._heard, self._rows = now_us, rows
            self.now = self.lasts = self.settled = False
            return False
        slowest = min((count for count in arrived.values() if count), default=1)
        self.now = now_us - self._heard >= (self._heard - self._began) / slowest and not self.settled
        return self.now

    def header(self) -> list[Any]:
        """What must be known to go on in the same pause, wherever the next tick is heard."""
        return [self._began, self._heard, self._rows, self.lasts, self.settled]

    def restore(self, values: Sequence[Any]) -> None:
        """Go on from there; nothing was known in a state that does not say."""
        began, heard, rows, lasts, settled = values or (None, 0, 0, False, False)
        self._began = None if began is None else int(finite(began))
        self._heard, self._rows = int(finite(heard)), int(finite(rows))
        self.now, self.lasts, self.settled = False, bool(lasts), bool(settled)
