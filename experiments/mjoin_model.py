"""The formulas of the multi-way join (Viglas, Naughton, Burger: maximizing the output rate of multi-way joins).

A.1, output rate: without windows the results made in second t are proportional to ``t^n - (t-1)^n`` (the paper's text
has a sum where the difference of two powers belongs); with windows it is constant.

    >>> windowed_output_rate([0.1], [10, 20], [5, 5])  # s * l_a * l_b * (w_a + w_b)
    200.0

A.2, one operator or two: ``D > S`` is the paper's test. It counts pairs that do not match as work that is thrown away,
and so would split cases that its own experiments show should not be; ``split_operator`` decides by cost instead.

    >>> ours = Ticks(hash=175, move=427, compare=49)
    >>> first, second = Part([0.001], [10_000, 15_000]), Part([], [10_000])
    >>> split_cost(first, second, ours) < discard_cost(first, second, ours)
    True
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Ticks:
    """What hashing, moving and comparing a tuple costs, in any unit."""

    hash: float
    move: float
    compare: float


@dataclass(frozen=True)
class Part:
    """Some of the streams: the selectivities of the predicates among them, and their tuples."""

    selectivities: Sequence[float]
    tuples: Sequence[float]

    @property
    def results(self) -> float:
        """The size of their intermediate result."""
        return prod(self.selectivities) * prod(self.tuples)

    @property
    def discarded(self) -> float:
        """How often a probe from them finds nothing, as the paper counts it."""
        return sum(1 - one for one in self.selectivities) * prod(self.tuples)


def output_growth(streams: int, second: int) -> int:
    """Results made in one second, without windows, for one tuple per second and stream and a selectivity of one."""
    return int(second**streams - (second - 1) ** streams)


def windowed_output_rate(selectivities: Sequence[float], rates: Sequence[float], windows_s: Sequence[float]) -> float:
    """Results per second: each stream's arrivals meet the windows of all others."""
    met = sum(prod(window for at, window in enumerate(windows_s) if at != own) for own in range(len(rates)))
    return float(prod(selectivities) * prod(rates) * met)


def arrival_cost(matches: Sequence[float], ticks: Ticks) -> float:
    """One arrival that probes the others in order; ``matches``: how many of each window match one probe."""
    probes, combinations = 0.0, 1.0
    for each in matches:
        probes += combinations
        combinations *= each
    return ticks.hash + ticks.move + ticks.compare * probes


def split_cost(first: Part, second: Part, ticks: Ticks) -> float:
    """S(k, l), equation 3: storing and probing the results of both parts."""
    return (first.results + second.results) * (ticks.hash + ticks.move + ticks.compare)


def discard_cost(first: Part, second: Part, ticks: Ticks) -> float:
    """D(k, l), equation 4: making intermediate results and throwing them away."""
    return (first.discarded + second.discarded) * ticks.compare
