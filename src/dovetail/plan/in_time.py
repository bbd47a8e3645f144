"""How many tuples of a window an arrival meets, given that blocks of the streams take turns.

Seen from an arrival at time t the stored stream has come to ``t + x``. It meets what is in time, passes what is ahead,
and sorted runs also hold what is behind but not yet forgotten:

    t - w_j          t              t + w_i     t + x
      |---- in time -----------------|-- ahead --|           x is anything between the lead and lead + span of a block

    >>> a, b = (StreamStatistics(rate=1000, tuples=10, block=100, window_s=0.01) for _ in "AB")
    >>> known = Statistics({"A": a, "B": b}, leads={("A", "B"): -0.099, ("B", "A"): 0.0})
    >>> first, second = met(known, "A", "B"), met(known, "B", "A")  # A's blocks come before B's of the same time
    >>> round(first.in_time, 2), round(second.in_time, 2), round(second.ahead)
    (0.51, 19.49, 40)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dovetail.model.statistics import Statistics, StreamStatistics


@dataclass(frozen=True)
class Met:
    """Tuples of one window as an arrival finds them, on average."""

    in_time: float
    ahead: float
    held: float


def met(known: Statistics, arriving: str, name: str, bound: int = 1) -> Met:
    """What an arrival meets in a window; ``bound``: how many streams its combination has already.

    Partners ahead of it narrow each other's range: n streams have n times a window's tuples to the power n - 1
    together, so the second brings all that is ahead, the third a half, and so on.
    """
    own, other = known.streams[arriving], known.streams[name]
    if other.window_s is None:
        return Met(other.tuples, 0.0, other.tuples)
    width, reach = other.window_s, other.window_s if own.window_s is None else own.window_s
    span = _span(own)
    lead = known.leads.get((arriving, name), -span / 2)

    def in_time(x: float) -> float:
        return max(0.0, width + (min(reach, x) / bound if x > 0 else x))

    fits = _mean(in_time, lead, lead + span, (-width, 0.0, reach))
    ahead = _mean(lambda x: max(0.0, x - reach), lead, lead + span, (reach,))
    held = width + max(0.0, lead + span)
    return Met(other.rate * fits, other.rate * ahead, other.rate * held)


def _span(stream: StreamStatistics) -> float:
    """Seconds from the first tuple of a block to its last."""
    return (stream.block - 1) / stream.rate if stream.rate else 0.0


def _mean(value: Callable[[float], float], low: float, high: float, kinks: Sequence[float]) -> float:
    """The mean over a range of what is straight between its kinks."""
    if high <= low:
        return value(low)
    ends = [low, *sorted(kink for kink in kinks if low < kink < high), high]
    pieces = pairwise(ends)
    return sum((value(one) + value(two)) / 2 * (two - one) for one, two in pieces) / (high - low)
