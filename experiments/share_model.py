"""How long results wait where queries share an operator, in formulas (Hammad, Franklin, Aref, Elmagarmid).

``arrivals`` tuples come at once and each looks through ever larger windows of ``sizes`` tuples; checking a
pair takes ``check_s``. Average response times of each query, here in microseconds:

    >>> load = Burst(arrivals=50, sizes=(100, 10_000, 60_000), check_s=1e-8)
    >>> [round(seconds * 1e6, 1) for seconds in largest_only(load)]
    [14700.5, 14750.0, 15000.0]
    >>> [round(seconds * 1e6, 1) for seconds in smallest_first(load)]
    [25.5, 2574.5, 17750.0]
    >>> [round(seconds * 1e6, 1) for seconds in alone(load)]
    [25.0, 2500.0, 15000.0]
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Burst:
    """What the formulas need to know; ``sizes`` ascend."""

    arrivals: int
    sizes: Sequence[float]
    check_s: float


def largest_only(load: Burst) -> list[float]:
    """LWO (equation 1): every arrival before this one looks through the largest window."""
    return [load.check_s / 2 * ((size + 1) + (load.arrivals - 1) * load.sizes[-1]) for size in load.sizes]


def smallest_first(load: Burst) -> list[float]:
    """SWF (equation 2): all arrivals look through the window before, then this one adds its difference."""
    steps = zip(load.sizes, [0.0, *load.sizes], strict=False)
    m, t = load.arrivals, load.check_s
    return [m * before * t + (m + 1) / 2 * (size - before) * t for size, before in steps]


def alone(load: Burst) -> list[float]:
    """Each query by itself: LWO with its own window as the largest."""
    return [largest_only(Burst(load.arrivals, (size,), load.check_s))[0] for size in load.sizes]
