"""What one step of a probe has done: how many combinations came, what they could have met, what they met.

10 arrivals, a window of 200, 30 of the pairs match      came 10, pairs 2000, matched 30
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Tally:
    """Counters of one step since they were last taken."""

    came: int = 0
    pairs: int = 0
    matched: int = 0

    def take(self) -> Iterator[tuple[str, int]]:
        """The counters by name; they start again from zero."""
        yield from (("came", self.came), ("pairs", self.pairs), ("matched", self.matched))
        self.came = self.pairs = self.matched = 0
