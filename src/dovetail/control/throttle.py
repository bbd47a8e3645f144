"""How much of the full work may be done, z, and the share of tuples that is let in where even little is too much.

By default control sets both by the spare capacity (``spare_capacity``). The other rule is the paper's (GrubJoin,
operator throttling, section III-A): at the end of every interval, with what was consumed and what arrived in it,

    b = consumed / arrived          z = b z  if b < 1,  else  min(1, boost z)

Example: 100 tuples came and 50 were joined; then all of them.

    >>> throttle = Throttle(boost=1.2)
    >>> throttle.adapt(consumed=50, arrived=100)
    >>> throttle.z
    0.5
    >>> throttle.adapt(consumed=100, arrived=100)
    >>> throttle.z
    0.6

Where even the smallest setting is too much, tuples must go: then ``kept``, the share let in at the door, follows the
same rule, and opens again before z does.
"""

from dataclasses import dataclass

SMALLEST = 0.001  # of the work: below it nothing is learned and the way back takes too long
FEWEST = 0.01  # of the rows: with fewer there is nothing to learn from


@dataclass
class Throttle:
    """The throttle fraction z, and the share of tuples let in."""

    boost: float
    z: float = 1.0
    kept: float = 1.0
    fixed: bool = False

    def adapt(self, consumed: float, arrived: float) -> None:
        """An interval has ended in which so many tuples arrived, and so many were joined."""
        if not arrived:
            return
        beta = consumed / arrived
        if beta < 1:
            self._close(beta)
        elif self.kept < 1:
            self.kept = min(1.0, self.boost * self.kept)
        else:
            self.z = min(1.0, self.boost * self.z)

    def _close(self, beta: float) -> None:
        if self.z > SMALLEST:
            self.z = max(SMALLEST, beta * self.z)
        else:
            self.kept = max(FEWEST, beta * self.kept)

    def move(self, z: float, kept: float) -> None:
        """Do as much, and let in as many, as there is time for."""
        self.z, self.kept = min(1.0, max(SMALLEST, z)), min(1.0, max(FEWEST, kept))
