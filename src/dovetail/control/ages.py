"""Where results lie in time: one histogram per stream, and from those how likely each slice of a window is.

L_i counts, over results, how much later stream i's member is than the first stream's. The difference between two
others is that of two such differences, taken as independent (GrubJoin, section V-B, equations 2 and 4).

Example: B's members come 4 s after A's, C's 5 s after A's. An arrival of C should look for B among tuples 1 s old:

    >>> b, c = (AgeHistogram.between(-10_000_000, 10_000_000, 1_000_000) for _ in "BC")
    >>> b.add(np.full(10, 4_000_000)), c.add(np.full(10, 5_000_000))
    (None, None)
    >>> edges = np.array([0, 2_000_000, 4_000_000, 6_000_000])
    >>> slice_scores({"B": b, "C": c}, "A", "C", "B", edges).round(2).tolist()
    [1.0, 0.0, 0.0]
    >>> slice_scores({"B": b, "C": c}, "A", "C", "A", edges).round(2).tolist()
    [0.0, 0.0, 1.0]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.header import finite, numbers
from dovetail.errors import StateError
from dovetail.model.shedding import FAR as _FAR

Floats = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]


@dataclass
class AgeHistogram:
    """Bins of one width from ``low_us`` on; what lies outside counts in the first or the last."""

    low_us: int
    bin_us: int
    counts: Floats

    @staticmethod
    def between(low_us: int, high_us: int, bin_us: int) -> "AgeHistogram":
        """Empty, with bins that cover at least this range."""
        return AgeHistogram(low_us, bin_us, np.zeros(max(1, -((low_us - high_us) // bin_us))))

    def add(self, differences_us: Times, weight: float = 1.0) -> None:
        """Count some differences."""
        bins = np.clip((differences_us - self.low_us) // self.bin_us, 0, len(self.counts) - 1)
        self.counts += weight * np.bincount(bins, minlength=len(self.counts))

    def fade(self, factor: float) -> None:
        """Let what was counted so far count for less."""
        self.counts *= factor

    def plus(self, other: "AgeHistogram | None") -> "AgeHistogram":
        """Both counts together; this one's if the bins of the other are not the same."""
        if other is None or (self.low_us, self.bin_us, len(self.counts)) != (
            other.low_us,
            other.bin_us,
            len(other.counts),
        ):
            return self
        return AgeHistogram(self.low_us, self.bin_us, self.counts + other.counts)

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"low_us": self.low_us, "bin_us": self.bin_us, "counts": self.counts.round(3).tolist()}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "AgeHistogram":
        """Back from plain values."""
        low, width = int(finite(values["low_us"], -_FAR, _FAR)), int(finite(values["bin_us"], 1, _FAR))
        counts = numbers(values["counts"])
        if not len(counts):
            raise StateError("the state has a histogram without bins. Use an earlier one.")
        return AgeHistogram(low, width, counts)


def slice_scores(
    histograms: Mapping[str, AgeHistogram], first: str, arriving: str, probed: str, edges: Times
) -> Floats:
    """The share of results in which the arriving stream's member is older than the other by edges[k] to edges[k+1].

    ``edges`` are ages in microseconds, from the youngest on; negative ages are of tuples ahead of the arrival.
    """
    if probed == first:
        start, bin_us, counts = _parts(histograms[arriving])
    elif arriving == first:
        start, bin_us, counts = _reversed(*_parts(histograms[probed]))
    else:
        start, bin_us, counts = _difference(histograms[arriving], histograms[probed])
    whole = counts.sum()
    if not whole:
        return np.zeros(len(edges) - 1)
    bounds = start + bin_us * np.arange(len(counts) + 1)
    below = np.interp(edges, bounds, np.concatenate([[0.0], np.cumsum(counts)]))
    return np.asarray(np.diff(below) / whole, np.float64)


def _parts(histogram: AgeHistogram) -> tuple[float, int, Floats]:
    return float(histogram.low_us), histogram.bin_us, histogram.counts


def _reversed(start: float, bin_us: int, counts: Floats) -> tuple[float, int, Floats]:
    return -(start + bin_us * len(counts)), bin_us, counts[::-1]


def _difference(one: AgeHistogram, other: AgeHistogram) -> tuple[float, int, Floats]:
    """The difference of two counted differences: values in the middle of their bins, half a bin to either side."""
    start, bin_us, counts = _parts(one)
    back, other_bin, other_counts = _reversed(*_parts(other))
    assert bin_us == other_bin, "all streams of a join are counted in bins of one width"
    return start + back + bin_us / 2, bin_us, np.convolve(counts, other_counts)
