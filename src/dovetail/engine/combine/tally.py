"""What one step of a probe has done: how many combinations came, how many tuples they met.

10 arrivals, each matches 3      came 10, matched 30
"""

from dataclasses import dataclass
from typing import NamedTuple

from dovetail.model.statistics import Tie


class Place(NamedTuple):
    """Where in the probes of a stream a step is: what it looks into, and how many streams are bound before it."""

    tie: Tie
    arriving: str
    bound: int


@dataclass
class Tally:
    """Counters of one step since they were last taken."""

    came: float = 0
    matched: float = 0

    def drain(self) -> tuple[float, float]:
        """Both counters; they start again from zero."""
        taken = self.came, self.matched
        self.came = self.matched = 0
        return taken
