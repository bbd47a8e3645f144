"""Processing time as a clock that never goes back.

Only the time between two readings counts. A reading that lies before the last one is a new origin: a clock that was set
wrong for a moment, or that belongs to another machine, costs one reading and nothing after it.

    read 10, 15, 10^18, 20, 27      passed 0, 5, 10^18 - 10, the same, 7 more
"""


class Elapsed:
    """How much time the readings of a clock add up to.

    >>> clock = Elapsed()
    >>> [clock.read(now) for now in (10, 15, 3, 4)]
    [0, 5, 5, 6]
    """

    def __init__(self, passed: int = 0, last: int | None = None) -> None:
        self.passed = passed
        self.last = last

    def read(self, now_us: int) -> int:
        """The time passed in all, the clock saying this."""
        self.passed += 0 if self.last is None else max(0, now_us - self.last)
        self.last = now_us
        return self.passed
