"""An hour of some numbers in bounded memory: the last minutes as they came, the rest thinned out.

    >>> line = Timeline()
    >>> for second in range(1000):
    ...     line.add(float(second), {"rate": float(second)})
    >>> times, (rates,) = line.points(["rate"])
    >>> len(times), times[0], times[-1], rates[-1]
    (370, 4.5, 999.0, 999.0)

The first of these points is the mean of the seconds 0 to 9. All numbers share one axis of time; one that was not known
at some point is not a number there, and is drawn as a gap.
"""

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

FINE = 300  # seconds: five minutes of reports as they come
COARSE = 360  # an hour of ten-second means
COARSE_S = 10.0  # an hour then has as many points as a plot has columns

Array = npt.NDArray[np.float64]


class Ring:
    """The last so many points."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._count = 0
        self._times = np.full(capacity, np.nan)
        self._values: dict[str, npt.NDArray[np.float32]] = {}

    def add(self, at: float, values: Mapping[str, float]) -> None:
        place = self._count % self._capacity
        self._count += 1
        self._times[place] = at
        for name in values.keys() - self._values.keys():
            self._values[name] = np.full(self._capacity, np.nan, np.float32)
        with np.errstate(over="ignore"):  # what does not fit is drawn as a gap
            for name, known in self._values.items():
                known[place] = values.get(name, np.nan)

    def points(self, names: Sequence[str]) -> tuple[Array, list[Array]]:
        """Times and values, oldest first."""
        first = self._count % self._capacity if self._count > self._capacity else 0
        order = np.roll(np.arange(min(self._count, self._capacity)), -first)
        unknown = np.full(self._capacity, np.nan, np.float32)
        return self._times[order], [self._values.get(name, unknown)[order].astype(np.float64) for name in names]

    def forget(self, names: set[str]) -> None:
        for name in names & self._values.keys():
            del self._values[name]


class Timeline:
    """Numbers over the last hour, by name."""

    def __init__(self) -> None:
        self._fine = Ring(FINE)
        self._coarse = Ring(COARSE)
        self._span = -1
        self._gathered: list[tuple[float, Mapping[str, float]]] = []

    def add(self, at: float, values: Mapping[str, float]) -> None:
        """What was known at a time; times go up."""
        self._fine.add(at, values)
        span = int(at // COARSE_S)
        if span != self._span and self._gathered:
            self._coarse.add(*_mean(self._gathered))
            self._gathered = []
        self._span = span
        self._gathered.append((at, values))

    def points(self, names: Sequence[str]) -> tuple[list[float], list[list[float | None]]]:
        """The hour, thinned out where it is long ago; None where a value was not known."""
        times, values = self._fine.points(names)
        before, older = self._coarse.points(names)
        early = before < (times[0] if len(times) else np.inf) - COARSE_S / 2
        joined = [np.concatenate([some[early], own]) for some, own in zip(older, values, strict=True)]
        return np.concatenate([before[early], times]).tolist(), [_known(each) for each in joined]

    def forget(self, names: set[str]) -> None:
        """Drop some numbers and their past."""
        self._fine.forget(names)
        self._coarse.forget(names)


def _mean(gathered: Sequence[tuple[float, Mapping[str, float]]]) -> tuple[float, dict[str, float]]:
    """Of each number, the mean of the points where it was known."""
    sums: dict[str, tuple[float, int]] = {}
    for _, values in gathered:
        for name, value in values.items():
            total, count = sums.get(name, (0.0, 0))
            sums[name] = total + value, count + 1
    at = sum(time for time, _ in gathered) / len(gathered)
    return at, {name: total / count for name, (total, count) in sums.items()}


def _known(values: Array) -> list[float | None]:
    return [value if isfinite(value) else None for value in values.tolist()]
