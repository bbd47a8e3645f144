"""How many results were missed, from those that were made: an estimate that is right on average, and its band.

Every result stands for ``weight`` results: one over the share of tuples let in, for each of its members. A sampled
arrival (a share w of them) looks through a share t of its first window and all of the others, so each of its results
also stands for 1/t; and one that lies outside the slices chosen for all other arrivals for (1 - w)/w more:

    missed = sum over results of ordinary arrivals   (weight - 1)
           + sum over results of sampled arrivals    (weight/t - 1)  +  (1 - w)/w * weight/t  if outside

Arrivals are sampled independently: the sum of squares per arrival bounds the variance of their part. Dropping a tuple
loses all of its results at once: for each tuple kept, (1 - share) * (what its results stand for)^2 (the first term of
Hoeffding's decomposition). The band is some standard deviations wide, and never narrower than a few sampled results.

What is not known is not complete. If something was left out and no result has come that tells of others (one of a
sampled arrival, or of a tuple that was let in where others were not), or if what was left out can be told from nothing
that was kept (``blind``), the band reaches up to every combination of what arrived. Results of rows that wait are not
made yet.

    nothing left out                     completeness 1, band [1, 1]
    400 rows dropped, no result made     completeness 0, band [0, 1]
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.header import finite

_DEVIATIONS = 2.5  # 19 in 20 for tails that are heavier than a bell's
_CAUTION = 1.3  # samples of neighbours are alike, so they say less than independent ones
_UNSEEN = 3  # sampled results, that may well have been there and were not met: the rule of three


@dataclass
class Estimate:
    """Results made and missed so far; ``unit``: how many results the last sampled one stood for.

    ``older_unit``: the same of results of older tuples, of which memory holds a sample.

    ``left_out``: tuples and comparisons that were not looked at; ``blind``: those among them of whose like nothing was
    looked at. ``waiting`` rows may make ``pending`` results. ``possible``: combinations of all that arrived.
    """

    produced: int = 0
    missed: float = 0.0
    sampling_variance: float = 0.0
    dropping_variance: float = 0.0
    unit: float = 0.0
    older_unit: float = 0.0
    left_out: float = 0.0
    blind: float = 0.0
    waiting: int = 0
    pending: float = 0.0
    possible: float = 0.0

    def add(self, owed: npt.NDArray[np.float64], sampling: bool) -> None:
        """What each arrival of a block missed, told by its results; if only some tell, that may be off."""
        self.missed += float(owed.sum())
        if sampling:
            self.sampling_variance += float((owed**2).sum())

    @property
    def total(self) -> float:
        return self.produced + self.missed

    @property
    def _unknown(self) -> bool:
        """Whether some of what was left out, or waits, can be judged by nothing: no result tells of others."""
        untold = self.left_out > 0 and not (self.missed or self.unit or self.older_unit)
        return self.blind > 0 or untold or (self.produced == 0 and self.left_out + self.waiting > 0)

    @property
    def spread(self) -> float:
        """How far the truth may lie from the estimate."""
        scale = max(1.0, self.total / self.produced) if self.produced else 1.0
        variance = self.sampling_variance * _CAUTION + self.dropping_variance * min(scale, 4.0)
        return _DEVIATIONS * sqrt(variance) + _UNSEEN * self._largest_unit

    @property
    def _largest_unit(self) -> float:
        units = [unit for unit in (self.unit, self.older_unit) if unit]
        return prod(units) if units else 0.0

    @property
    def missed_between(self) -> tuple[float, float]:
        """Between how few and how many were missed."""
        high = self.missed + self.spread
        if self._unknown:
            high = max(high, self.possible - self.produced, 1.0)
        return max(0.0, self.missed - self.spread), high

    @property
    def completeness(self) -> float:
        """The share of all results that came out."""
        return self._share(self.missed + self.pending, float(not self._unknown))

    @property
    def completeness_between(self) -> tuple[float, float]:
        """Results that wait may be none, or twice as many as thought."""
        few, many = self.missed_between
        return self._share(many + 2 * self.pending, float(not self._unknown)), self._share(few, 1.0)

    def _share(self, missed: float, otherwise: float) -> float:
        return self.produced / (self.produced + missed) if self.produced + missed else otherwise

    def report(self) -> dict[str, float]:
        """Results made, missed with the band, still to be made by rows that wait; completeness with its band."""
        few, many = self.missed_between
        worst, best = self.completeness_between
        return {
            "results": self.produced,
            "missed": self.missed,
            "missed_low": few,
            "missed_high": many,
            "pending": self.pending,
            "completeness": self.completeness,
            "completeness_low": worst,
            "completeness_high": best,
        }

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return dict(vars(self))

    def restore(self, values: Mapping[str, Any]) -> None:
        """Back from plain values; what an older version did not write stays as it is."""
        for each in fields(self):
            setattr(self, each.name, finite(values.get(each.name, getattr(self, each.name)), least=0))
