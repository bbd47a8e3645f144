"""Sums that forget: what happened lately counts, what happened before does not.

Two spans of the streams' time are kept, the one that is filling up and the full one before it. So a sum is over the
last two to four seconds, and four seconds after a change nothing of the time before is left in it.

    >>> sums = Recent()
    >>> for second in range(66):
    ...     sums.add(1.0, {"A": 10_000 if second < 60 else 1})
    >>> sums["A"] / sums.seconds
    1.0
"""

from collections.abc import Hashable, Mapping
from typing import Any

SPAN_S = 2.0  # rates of two seconds are steady enough to read


class Recent(dict[Any, float]):
    """Running sums by name, and the seconds that they are over."""

    def __init__(self) -> None:
        self._filling: dict[Hashable, float] = {}
        self._full_s = self._filling_s = 0.0

    def __missing__(self, name: Hashable) -> float:
        return 0.0

    @property
    def seconds(self) -> float:
        return self._full_s + self._filling_s

    def add(self, passed_s: float, fresh: Mapping[Any, float]) -> None:
        """So much time went by, and so much happened in it."""
        if self._filling_s >= SPAN_S:
            self.renew()
            self._full_s = self._filling_s
            self._filling, self._filling_s = {}, 0.0
        self._filling_s += passed_s
        for name, amount in fresh.items():
            self[name] += amount
        if self._filling:
            for name, amount in fresh.items():
                self._filling[name] = self._filling.get(name, 0.0) + amount
        else:
            self._filling = dict(fresh)

    def renew(self) -> None:
        """Forget the full span at once: what is true now began after it."""
        self.clear()
        self.update(self._filling)
        self._full_s = 0.0
