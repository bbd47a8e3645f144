"""When inputs pause: nothing has come for as long as the slowest stream usually takes between two tuples."""

from collections.abc import Mapping


class Pauses:
    """Learns from ticks.

    >>> pauses = Pauses()
    >>> [pauses.tick(now, {"A": rows, "B": 2 * rows}) for now, rows in ((0, 1), (10, 3), (20, 5), (23, 5), (24, 5))]
    [False, False, False, False, True]
    """

    def __init__(self) -> None:
        self._began: int | None = None
        self._heard = 0
        self._rows = 0

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> bool:
        """Whether inputs pause at this time, so many rows of each stream having come."""
        rows = sum(arrived.values())
        if self._began is None or rows != self._rows:
            self._began = now_us if self._began is None else self._began
            self._heard, self._rows = now_us, rows
            return False
        slowest = min((count for count in arrived.values() if count), default=1)
        return now_us - self._heard >= (self._heard - self._began) / slowest
