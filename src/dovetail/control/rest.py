"""How long control rests between two searches for something better, so that searching stays small beside the work.

Before the first search the thread has worked ten times as long as it is expected to take, and after a search fifty
times as long as it took, the time of the thread's CPU. Searches for few streams are expected to take no time: they are
made whenever something has drifted, so that short runs adapt too.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from dovetail.kernel import cpu_time

_FIRST, _BETWEEN = 10.0, 50.0  # a tenth of the first work, and two hundredths of all that follows


class Rest:
    """``expected_s``: what the first search is expected to take; nothing, and there is never a rest."""

    def __init__(self, expected_s: float) -> None:
        self._never = not expected_s
        self._until = cpu_time() + _FIRST * expected_s

    @property
    def over(self) -> bool:
        """Whether the next search may begin."""
        return self._never or cpu_time() >= self._until

    @contextmanager
    def search(self) -> Iterator[None]:
        """Times a search."""
        began = cpu_time()
        yield
        ended = cpu_time()
        self._until = ended + _BETWEEN * (ended - began)
