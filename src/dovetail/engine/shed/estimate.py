"""How many results were missed, from those that were made: an estimate that is right on average, and its band.

Every result stands for ``weight`` results: one over the share of tuples let in, for each of its members. A sampled
arrival (a share w of them) looks through a share t of its first window and all of the others, so each of its results
also stands for 1/t; and one that lies outside the slices chosen for all other arrivals for (1 - w)/w more:

    missed = sum over results of ordinary arrivals   (weight - 1)
           + sum over results of sampled arrivals    (weight/t - 1)  +  (1 - w)/w * weight/t  if outside

Arrivals are sampled independently: the sum of squares per arrival bounds the variance of their part. Dropping a tuple
loses all of its results at once: for each tuple kept, (1 - share) * (what its results stand for)^2 (the first term of
Hoeffding's decomposition). The band is some standard deviations wide, and never narrower than a few sampled results.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

_DEVIATIONS = 2.5
_CAUTION = 1.3


@dataclass
class Estimate:
    """Results made and missed so far; ``unit``: how many results the last sampled one stood for.

    ``elsewhere``: the band of what is missing for other reasons.
    """

    produced: int = 0
    missed: float = 0.0
    sampling_variance: float = 0.0
    dropping_variance: float = 0.0
    unit: float = 0.0
    elsewhere: float = 0.0

    @property
    def total(self) -> float:
        return self.produced + self.missed

    @property
    def spread(self) -> float:
        """How far the truth may lie from the estimate."""
        scale = max(1.0, self.total / self.produced) if self.produced else 1.0
        variance = self.sampling_variance * _CAUTION + self.dropping_variance * min(scale, 4.0)
        return _DEVIATIONS * sqrt(variance) + 3 * self.unit + self.elsewhere

    @property
    def missed_between(self) -> tuple[float, float]:
        return max(0.0, self.missed - self.spread), self.missed + self.spread

    @property
    def completeness(self) -> float:
        """The share of all results that came out."""
        return self.produced / self.total if self.total else 1.0

    @property
    def completeness_between(self) -> tuple[float, float]:
        few, many = self.missed_between
        worst = self.produced / (self.produced + many) if self.produced + many else 1.0
        return worst, self.produced / (self.produced + few) if self.produced + few else 1.0

    def report(self) -> dict[str, float]:
        """Results made, results missed with its band, and completeness with its own."""
        few, many = self.missed_between
        worst, best = self.completeness_between
        return {
            "results": self.produced,
            "missed": self.missed,
            "missed_low": few,
            "missed_high": many,
            "completeness": self.completeness,
            "completeness_low": worst,
            "completeness_high": best,
        }

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return dict(vars(self))
