"""What shedding learns between two decisions: where results lie, how many tuples match, how full slices are."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Direction = tuple[str, str]  # the arriving stream and the one it looks into


@dataclass
class Learned:
    """``ages``: how much later each stream's members of sampled results are than the first stream's.

    ``tuples``: by direction, per slice, summed over ``arrivals``. ``came`` and ``matched``: by direction, of sampled
    arrivals; ``steps`` in the order in which the windows were looked through.
    """

    ages: dict[str, list[Times]] = field(default_factory=lambda: defaultdict(list))
    tuples: dict[Direction, Floats] = field(default_factory=dict)
    arrivals: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    came: dict[Direction, float] = field(default_factory=lambda: defaultdict(float))
    matched: dict[Direction, float] = field(default_factory=lambda: defaultdict(float))
    seen: int = 0

    def slices(self, direction: Direction, counts: Floats) -> None:
        """So many tuples lay in each slice, for so many arrivals (which ``counts`` is multiplied by)."""
        known = self.tuples.get(direction)
        self.tuples[direction] = counts if known is None or len(known) != len(counts) else known + counts

    def step(self, direction: Direction, came: float, matched: float) -> None:
        """Of so many partial results that came, so many matches were found."""
        self.came[direction] += came
        self.matched[direction] += matched
