"""The time account of a CPU budget: given by ticks, used by the operator, saved up for at most an interval.

    tick(now)    the share of the time since the last tick is given, up to an interval's worth in all
    spend        what was used, by the meter or as expected, is taken off; more than was given is a debt

Before the first tick no time is known to pass (``now`` is None).
"""

from collections.abc import Callable, Mapping
from typing import Any

from dovetail.engine.block.elapsed import Elapsed
from dovetail.engine.buffer.header import finite


class CpuTime:
    """Seconds of one operator; ``meter`` tells the CPU seconds used so far, ours and others'."""

    def __init__(self, share: float, interval_us: int, meter: Callable[[], float]) -> None:
        self.share, self._interval_us, self._meter = share, interval_us, meter
        self._clock = Elapsed()
        self.now: int | None = None
        self._first = self._began = 0
        self.credit_s = 0.0
        self._read = 0.0
        self.used_s = self.given_s = 0.0
        self._gap_s = 0.0

    def begin(self) -> None:
        """Time from here on is the operator's."""
        self._read = self._meter()

    def measure(self) -> float:
        """What was used since the last reading."""
        read = self._meter()
        spent, self._read = read - self._read, read
        return spent

    def spend(self, seconds: float) -> None:
        """Take so much off what was given."""
        self.used_s = max(0.0, self.used_s + seconds)  # less was used than expected: never less than nothing
        self.credit_s -= seconds

    def tick(self, now_us: int) -> None:
        """Time has passed."""
        now = self._clock.read(now_us)
        if self.now is None:
            self._first = self._began = self.now = now
            self.credit_s = self.depth
        self._gap_s = (now - self.now) / 1e6
        self.given_s += self.share * self._gap_s
        self.credit_s = min(self.depth, self.credit_s + self.share * self._gap_s)
        self.now = now

    @property
    def depth(self) -> float:
        """What may be saved up: an interval's time, or that between two ticks."""
        return self.share * max(self._interval_us / 1e6, self._gap_s)

    def interval_s(self) -> float | None:
        """How long the interval that ends now has been, and the next one begins; None while it goes on."""
        assert self.now is not None
        passed = self.now - self._began
        if passed < self._interval_us:
            return None
        self._began = self.now
        return passed / 1e6

    @property
    def so_far_s(self) -> float:
        """Since the first tick."""
        assert self.now is not None
        return (self.now - self._first) / 1e6

    def header(self) -> dict[str, Any]:
        """All that must be known to go on."""
        clock = {"now": self.now, "clock": self._clock.last, "first": self._first, "began": self._began}
        return clock | {"credit_s": self.credit_s, "given_s": self.given_s, "used_s": self.used_s}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from there."""
        times = saved["now"], saved.get("clock", saved["now"])
        self.now, last = (None if at is None else int(finite(at)) for at in times)
        self._clock = Elapsed(self.now or 0, last)
        self._first, self._began = int(finite(saved["first"])), int(finite(saved["began"]))
        self.credit_s = finite(saved["credit_s"])
        self.given_s, self.used_s = finite(saved["given_s"], least=0), finite(saved["used_s"], least=0)
