"""What the CPU time given can do: opens by the time to spare, closes by the shortage, in one step either way.

An interval ends in which ``used`` seconds went into ``consumed`` tuples. A tuple costs something however little it is
compared (``RowCosts``), and the rest for what it is compared with. What comes next is as many as came now and part of
those that wait. So the work that can be done per second, in the units in which the setting in force costs ``in_force``,

    seconds left for comparing    given / (1 + waiting / (10 came)) - row_s * tuples per second
    one unit of work              (used / consumed - row_s) * tuples per second / in_force

Example: a setting of 100 comparisons per second took half of the time given; 200 can be made.

    >>> supply = Supply.of(Interval(1.0, 1.0, used_s=0.5, came=10, consumed=10, waiting=0), row_s=0.0, in_force=100.0)
    >>> supply.work(tuples=10.0)
    200.0

With twelve more that wait it is less, so that they get their turn within some intervals; not at once, because that
would close the throttle further than it has to be a moment later.
"""

from dataclasses import dataclass
from math import inf

_DRAIN = 0.1  # of the tuples that wait are to be joined within an interval
_FADE = 0.9  # the last ten intervals count
_RIDGE = 0.002  # tuples and comparisons that always grow together are laid to the comparisons
_STEADY = 0.15  # a window that is so near to what its stream fills is as full as it will be
_LEAST_GROWTH, _MOST_GROWTH = 0.2, 5.0  # a window's size is predicted within what one interval can change
_LEAST_WORK = 0.05  # of what a tuple takes is comparing, at least


@dataclass(frozen=True)
class Interval:
    """What happened in so many seconds, of which CPU was ``given_s`` and used; tuples came, were joined, or wait."""

    seconds: float
    given_s: float
    used_s: float
    came: float
    consumed: float
    waiting: float

    @property
    def each_s(self) -> float:
        """CPU seconds of a tuple."""
        return self.used_s / self.consumed if self.consumed > 0 else 0.0


@dataclass(frozen=True)
class Supply:
    """CPU seconds per second, what a tuple takes of them, and a unit of work (0: nothing is known to take time)."""

    cpu: float
    row_s: float
    unit_s: float

    @staticmethod
    def of(interval: Interval, row_s: float, in_force: float) -> "Supply":
        """``in_force``: units of work per second, if all that came is joined as is decided now."""
        came = max(interval.came, 1e-9)
        cpu = interval.given_s / interval.seconds / (1 + _DRAIN * interval.waiting / came)
        comparing_s = max(interval.each_s - row_s, _LEAST_WORK * interval.each_s)
        return Supply(cpu, row_s, comparing_s * came / interval.seconds / in_force if in_force > 0 else 0.0)

    def work(self, tuples: float) -> float:
        """Units of work per second, where so many tuples per second are let in."""
        return max(0.0, self.cpu - self.row_s * tuples) / self.unit_s if self.unit_s > 0 else inf


def growth(tuples: float, window_s: float, rate: float, seconds: float) -> float:
    """How many times as many tuples a window will hold in the next interval, if as many come as in this one.

    A window of 10 s with 100 tuples, of which in 5 s 100 more have come: it is on its way to 200.

    >>> growth(100.0, 10.0, 20.0, 5.0)
    1.5
    """
    to_come = rate * window_s / tuples if tuples else 1.0
    if seconds <= 0 or abs(to_come - 1) < _STEADY:
        return 1.0
    return 1 + min(1.0, seconds / window_s) * (min(max(to_come, _LEAST_GROWTH), _MOST_GROWTH) - 1)


class RowCosts:
    """What a tuple takes apart from comparing: least squares over intervals, the latest counting most."""

    def __init__(self) -> None:
        self.state: tuple[float, ...] = (0.0,) * 5

    def add(self, rows: float, compared: float, used_s: float) -> None:
        """So many tuples were joined, and compared so often, in so much time."""
        fresh = rows * rows, rows * compared, compared * compared, rows * used_s, compared * used_s
        self.state = tuple(_FADE * old + new for old, new in zip(self.state, fresh, strict=True))

    @property
    def row_s(self) -> float:
        rows, both, compared, rows_s, compared_s = self.state
        divisor = rows * (1 + _RIDGE) * compared - both * both
        return max(0.0, (rows_s * compared - compared_s * both) / divisor) if divisor > 0 else 0.0
