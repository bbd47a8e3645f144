"""Part of a window by age: the chosen slices of it, or a little of every slice.

An arrival at 100 s that may look at ages of 0 to 2 s and 4 to 6 s sees the tuples after 98 and after 94 s, up
to 100 and 96 s. A scan begins and ends there; a chain is walked once, down to the oldest age wanted, and what lies
between is passed over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.candidates import CandidateStep, Piece
from dovetail.engine.combine.partial import Ids, Partial

Flags = npt.NDArray[np.bool_]
Range = tuple[Ids | int, Ids | int]


@dataclass(frozen=True)
class Chosen:
    """Ages from ``low`` up to, without, ``high``; ranges in order and apart."""

    ranges: Sequence[tuple[int, int]]

    def passes(self) -> Iterator[Range]:
        """The ranges, each to be looked through for itself."""
        return iter(self.ranges)

    def envelope(self) -> Range:
        """The range that holds them all."""
        return self.ranges[0][0], self.ranges[-1][1]

    def keeps(self, ages: Ids, parents: Ids) -> Flags:
        """Which ages lie in a range."""
        edges = np.array(self.ranges, np.int64).ravel()
        inside: Flags = np.searchsorted(edges, ages, side="right") % 2 == 1
        return inside


@dataclass(frozen=True)
class Thinned:
    """The same share of every slice, for each arrival from another point on: any age is seen with this probability."""

    edges: Ids
    share: float
    starts: npt.NDArray[np.float64]

    def passes(self) -> Iterator[Range]:
        """The part of each slice, which may begin again at the slice's front."""
        for low, high in zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True):
            length = high - low
            first = low + np.floor(self.starts * length).astype(np.int64)
            last = first + round(self.share * length)
            yield first, np.minimum(last, high)
            yield np.full(len(first), low), np.minimum(low + np.maximum(last - high, 0), first)

    def envelope(self) -> Range:
        """Everything."""
        return int(self.edges[0]), int(self.edges[-1])

    def keeps(self, ages: Ids, parents: Ids) -> Flags:
        """Which ages lie in their slice's part."""
        at = np.clip(np.searchsorted(self.edges, ages, side="right") - 1, 0, len(self.edges) - 2)
        low, length = self.edges[at], self.edges[at + 1] - self.edges[at]
        first = np.floor(self.starts[parents] * length).astype(np.int64)
        inside: Flags = (ages - low - first) % length < np.round(self.share * length)
        return inside


Sieve = Chosen | Thinned


def sifted(
    sieve: Sieve, step: CandidateStep, partial: Partial, origins: Ids, window: Window, width: int, walks: bool
) -> Iterator[Piece]:
    """The candidates of a step whose age, seen from the arrival's own time, passes the sieve."""
    if not walks:
        for low, high in sieve.passes():
            yield from step.pieces(_bounded(partial, origins, low, high, width))
        return
    for parents, ids in step.pieces(_bounded(partial, origins, *sieve.envelope(), width)):
        keep = sieve.keeps(origins[parents] - window.times[ids - window.base], parents)
        yield parents[keep], ids[keep]


def _bounded(partial: Partial, origins: Ids, low: Ids | int, high: Ids | int, width: int) -> Partial:
    """The partial results as if they reached back and forth only this far."""
    oldest = np.maximum(partial.newest - width, origins - high + 1)
    return Partial(partial.ids, oldest + width, np.minimum(partial.expiry, origins - low))
