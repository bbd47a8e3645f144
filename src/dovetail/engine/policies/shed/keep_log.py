"""Which share of a stream was let in at which time: what a result that came out stands for.

Half of the tuples before 10 s were kept, all of them after; a result with a member at 4 s stands for two.

    >>> log = KeepLog()
    >>> log.note(0, 0.5), log.note(10, 1.0)
    (None, None)
    >>> log.rates(np.array([4, 12])).tolist()
    [0.5, 1.0]
"""

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class KeepLog:
    """Keep rates by event time, as far back as tuples are stored."""

    def __init__(self) -> None:
        self._since: list[int] = []
        self._rates: list[float] = []

    @property
    def whole(self) -> bool:
        """Whether everything was kept."""
        return all(rate == 1.0 for rate in self._rates)

    def note(self, since: int, rate: float) -> None:
        """From this time on, this share is kept."""
        if (self._rates and self._rates[-1] == rate) or (not self._rates and rate == 1.0):
            return
        self._since.append(max(since, self._since[-1]) if self._since else since)
        self._rates.append(rate)

    def lower(self, since: int, rate: float) -> None:
        """What came from this time on was thinned afterwards: no more than this share of it is left.

        >>> log = KeepLog()
        >>> log.note(0, 0.5), log.note(10, 1.0), log.lower(5, 0.2)
        (None, None, None)
        >>> log.rates(np.array([4, 6, 12])).tolist()
        [0.5, 0.2, 0.2]
        """
        at = bisect_left(self._since, since)
        before = self._rates[at - 1] if at else 1.0
        later = [min(rate, each) for each in self._rates[at:]]
        if rate < before and (at == len(self._since) or self._since[at] > since):
            self._since.insert(at, since)
            later.insert(0, rate)
        self._rates[at:] = later

    def rates(self, times: Times) -> Floats:
        """The share that was kept at each time."""
        at = np.searchsorted(np.array(self._since, np.int64), times, side="right")
        return np.array([1.0, *self._rates])[at]

    def forget(self, before: int) -> None:
        """Nothing older than this is asked for any more."""
        while len(self._since) > 1 and self._since[1] <= before:
            del self._since[0], self._rates[0]
        if len(self._since) == 1 and self._rates[0] == 1.0 and self._since[0] <= before:
            self._since.clear()
            self._rates.clear()

    def to_json(self) -> list[list[float]]:
        """As plain values."""
        return [[since, rate] for since, rate in zip(self._since, self._rates, strict=True)]

    def restore(self, values: list[list[float]]) -> None:
        """Back from plain values."""
        self._since = [int(since) for since, _ in values]
        self._rates = [rate for _, rate in values]
