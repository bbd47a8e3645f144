"""Too little memory beside too little CPU: up to which age tuples of each stream are worth keeping.

Tuples in slices that no arrival looks through can go first, as long as nobody looks through older ones (GrubJoin,
section VII). If that is not enough, the oldest slice goes of the stream that loses the fewest results per memory freed:

    results   sum_i  l_i * product over j of  f_ij * (scores of the chosen slices of j that are younger than its age)

Example: A's arrivals find B's tuples in their second slice, B's arrivals find nothing. So A is not kept at all.

    >>> b = Kept(rate=10.0, size=1.0, ages=(0, 1_000_000, 2_000_000, 3_000_000))
    >>> found = {"A": Finding(10.0, {"B": (1.0, (0.0, 1.0, 0.0))}), "B": Finding(10.0, {"A": (0.0, (0.3, 0.3, 0.4))})}
    >>> keep_ages({"A": b, "B": b}, found, memory=20.0)
    {'A': 0, 'B': 2000000}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from dovetail.control.correlations import Window
from dovetail.model.shedding import FAR, Pick


@dataclass(frozen=True)
class Kept:
    """A stream that may be stored: its tuples per second, what one takes, and the ages between its slices."""

    rate: float
    size: float
    ages: tuple[int, ...]

    def memory(self, slices: int) -> float:
        """Of its youngest slices."""
        return self.rate * self.size * self.ages[slices] / 1e6

    @property
    def slices(self) -> int:
        return len(self.ages) - 1


@dataclass(frozen=True)
class Finding:
    """What arrivals of one stream find: by probed stream the fan-out, and its shares by slice, youngest first."""

    rate: float
    shares: Mapping[str, tuple[float, tuple[float, ...]]]

    def results(self, slices: Mapping[str, int]) -> float:
        """Per second, if so many of the youngest slices are kept."""
        return self.rate * prod(fanout * sum(some[: slices[name]]) for name, (fanout, some) in self.shares.items())


def keep_ages(streams: Mapping[str, Kept], found: Mapping[str, Finding], memory: float) -> dict[str, int]:
    """The age up to which each stream is kept, so that all of them fit."""
    slices = {name: each.slices for name, each in streams.items()}

    def loss(name: str) -> tuple[float, int]:
        fewer, each = slices | {name: slices[name] - 1}, streams[name]
        lost = sum(one.results(slices) - one.results(fewer) for one in found.values())
        return lost / max(each.memory(slices[name]) - each.memory(fewer[name]), 1e-300), -each.ages[slices[name]]

    while sum(each.memory(slices[name]) for name, each in streams.items()) > memory and any(slices.values()):
        slices[min((name for name in slices if slices[name]), key=loss)] -= 1
    return {name: each.ages[slices[name]] for name, each in streams.items()}


def finding(rate: float, windows: Mapping[str, Window], picks: Mapping[str, Pick] | None) -> Finding:
    """What arrivals of one stream find in the slices that they look through; tuples ahead of them count as young."""
    shares = {}
    for name, window in windows.items():
        scores = window.scores.copy()
        if picks is not None:
            scores *= picks[name].shares
        ahead = int(np.searchsorted(window.edges, 0, side="right")) - 1
        young = scores[max(ahead, 0) :]
        young[:1] += scores[: max(ahead, 0)].sum()
        shares[name] = window.step.fanout, tuple(young.tolist())
    return Finding(rate, shares)


def kept(rate: float, size: float, window: Window) -> Kept:
    """A stream as its window is seen by arrivals of another."""
    ages = window.edges[(window.edges >= 0) & (window.edges < FAR)]
    return Kept(rate, size, tuple(ages.tolist()))
