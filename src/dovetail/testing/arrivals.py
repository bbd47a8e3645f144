"""When tuples arrive: made-up arrival processes as sorted arrays of microseconds, the same for the same seed.

>>> constant(rate=4, seconds=1)
array([250000, 500000, 750000])
>>> len(poisson(rate=100, seconds=60, seed=1)) / 60  # about 100 a second
100.2
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

Times = np.ndarray[Any, np.dtype[np.int64]]
_SECOND = 1_000_000  # in microseconds


def constant(rate: float, seconds: float) -> Times:
    """Every 1/rate seconds."""
    return _before_end(np.arange(1, int(rate * seconds) + 1) / rate, seconds)


def poisson(rate: float, seconds: float, seed: int) -> Times:
    """Exponential gaps with mean 1/rate."""
    random = np.random.default_rng(seed)
    enough = int(rate * seconds + 10 * np.sqrt(rate * seconds) + 10)
    return _before_end(np.cumsum(random.exponential(1 / rate, enough)), seconds)


def pareto_bursts(rate: float, seconds: float, seed: int, burst: float) -> Times:
    """Bursts of a Pareto-distributed size with mean ``burst``, at moments that keep the overall rate.

    The whole burst arrives at one instant. Between 1 and 2 the shape parameter, burst / (burst - 1), gives sizes
    of infinite variance; a burst of 1 is a Poisson process.

    >>> times = pareto_bursts(rate=100, seconds=10, seed=7, burst=3)
    >>> bool(len(np.unique(times)) < len(times))
    True
    """
    if burst <= 1:
        return poisson(rate, seconds, seed)
    moments = poisson(rate / burst, seconds, seed)
    random = np.random.default_rng([seed, 1])
    sizes = 1 + random.pareto(burst / (burst - 1), len(moments))
    # Rounding at random keeps the mean: a size of 2.3 is 3 three times in ten.
    whole = np.floor(sizes + random.random(len(moments))).astype(np.int64)
    return np.repeat(moments, np.minimum(whole, int(rate * seconds) + 1))


def fluctuating(rates: Sequence[float], period: float, seconds: float, seed: int) -> Times:
    """A Poisson process whose rate changes every ``period`` seconds, going round the given rates.

    >>> times = fluctuating([10, 1000], period=1, seconds=4, seed=3)
    >>> np.histogram(times, 4, (0, 4_000_000))[0].tolist()
    [5, 991, 10, 1001]
    """
    pieces = [np.empty(0, np.int64)]
    for place, start in enumerate(np.arange(0, seconds, period)):
        length = min(period, seconds - start)
        times = poisson(rates[place % len(rates)], length, seed * 1_000_003 + place)
        pieces.append(times + round(start * _SECOND))
    return np.concatenate(pieces)


def _before_end(times_s: np.ndarray[Any, Any], seconds: float) -> Times:
    times = np.round(times_s * _SECOND).astype(np.int64)
    kept: Times = times[times < seconds * _SECOND]
    return kept
