"""How much of the full work may be done (GrubJoin, operator throttling, section III-A).

At the end of every interval, with what was consumed and what arrived in it:

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

SMALLEST = 0.001
_FEWEST = 0.01


@dataclass
class Throttle:
    """The throttle fraction z, and the share of tuples let in."""

    boost: float
    z: float = 1.0
    kept: float = 1.0

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

    def restate(self, factor: float) -> None:
        """The same work has turned out to be so many times the share of everything that it was taken for."""
        self.z = min(1.0, max(SMALLEST, self.z * factor))

    def _close(self, beta: float) -> None:
        if self.z > SMALLEST:
            self.z = max(SMALLEST, beta * self.z)
        else:
            self.kept = max(_FEWEST, beta * self.kept)
