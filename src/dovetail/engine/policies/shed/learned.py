"""What shedding learns between two decisions: where results lie, how many tuples match, how full slices are."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Direction = tuple[str, str]  # the arriving stream and the one it looks into


def by_slice(known: Floats | None, fresh: Floats) -> Floats:
    """Old and fresh numbers together; the fresh ones alone if the slices are others now."""
    return fresh if known is None or len(known) != len(fresh) else known + fresh


@dataclass
class Learned:
    """``ages``: how much later each stream's members of sampled results are than the first stream's.

    ``tuples``: by direction, per slice, summed over ``arrivals``; ``exposed``: over sampled ones, as much of each as
    they look at. ``came`` and ``matched``: by direction, of sampled arrivals; ``harvested``: the same of ordinary ones,
    that look through the chosen slices. ``places``: results by direction, per slice; ``gathered``: the same of ordinary
    arrivals. ``results`` of sampled arrivals of each stream, and their squares summed over arrivals; ``others``: both
    for ordinary ones, and how many these are.
    """

    ages: dict[str, list[Times]] = field(default_factory=lambda: defaultdict(list))
    tuples: dict[Direction, Floats] = field(default_factory=dict)
    exposed: dict[Direction, Floats] = field(default_factory=dict)
    arrivals: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    came: dict[Direction, float] = field(default_factory=lambda: defaultdict(float))
    matched: dict[Direction, float] = field(default_factory=lambda: defaultdict(float))
    harvested: dict[Direction, tuple[float, float]] = field(default_factory=dict)
    seen: int = 0
    places: dict[Direction, Floats] = field(default_factory=dict)
    gathered: dict[Direction, Floats] = field(default_factory=dict)
    others: dict[str, Floats] = field(default_factory=lambda: defaultdict(lambda: np.zeros(3)))
    results: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    squares: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def slices(self, direction: Direction, counts: Floats, arrivals: float, exposed: float = 0.0) -> None:
        """So many tuples lay in each slice, for so many arrivals, of which so many were sampled."""
        self.tuples[direction] = by_slice(self.tuples.get(direction), counts * arrivals)
        self.exposed[direction] = by_slice(self.exposed.get(direction), counts * exposed)

    def found(self, direction: Direction, counts: Floats, sampled: bool = True) -> None:
        """So many results of sampled arrivals, or of ordinary ones, have a member in each slice."""
        places = self.places if sampled else self.gathered
        places[direction] = by_slice(places.get(direction), counts)

    def sampled(self, arriving: str, results: float, squares: float) -> None:
        """Sampled arrivals of a stream found so many, each of them squared so many."""
        self.results[arriving] += results
        self.squares[arriving] += squares

    def independent(self, arriving: str) -> float:
        """How many results would tell as much if those of an arrival did not belong together."""
        squares = self.squares.get(arriving, 0.0)
        return self.results[arriving] ** 2 / squares if squares else 0.0

    def independent_others(self, arriving: str) -> float:
        """The same of ordinary arrivals."""
        results, squares, _ = self.others[arriving]
        return float(results**2 / squares) if squares else 0.0

    def step(self, direction: Direction, came: float, matched: float) -> None:
        """Of so many partial results that came, so many matches were found."""
        self.came[direction] += came
        self.matched[direction] += matched

    def harvest(self, direction: Direction, came: float, matched: float) -> None:
        """The same for those that looked through the chosen slices only."""
        before_came, before_matched = self.harvested.get(direction, (0.0, 0.0))
        self.harvested[direction] = before_came + came, before_matched + matched
