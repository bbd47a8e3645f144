"""The policy "harvest" for memory: windows become shorter, where that costs the fewest results.

When too much is held, memory is divided among the streams by what a stored tuple of each is worth (``allocate_memory``
of the plan), and every window keeps its newest tuples. A stream that gets nothing still probes. What has left is
counted: from it and from the results made follows how many are missing.

    rates 10 and 50 per second, memory for 1000 tuples: A keeps 1000, B none; B's tuples meet A's as they arrive

Combinations looked at and results made give a selectivity; combinations that would have been looked at with whole
windows give the results that would have been made. The band is two standard deviations of counting
what was made, results or arrivals where those are fewer, times the number of streams met: results of one stored tuple
come together.
"""

from collections import deque
from math import prod, sqrt
from typing import Any

from dovetail.engine.admit.watermarks import BEFORE_ALL
from dovetail.engine.memory.account import Account
from dovetail.engine.memory.insides import Insides, Rows
from dovetail.engine.memory.keeper import Carefree, Incoming, Reach
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget, Tuples
from dovetail.plan.allocate_memory import allocate_memory

_ROOM = 0.7  # of a budget in bytes, is kept: the rest fills until the next division


class Trim(Carefree):
    """Keeps the newest tuples of each stream, as many as its share."""

    def __init__(self, inside: Insides, budget: Budget) -> None:
        assert budget.memory is not None
        self._inside, self._budget = inside, budget
        self._account = Account(inside, budget.memory)
        self._room = 1.0 if isinstance(budget.memory, Tuples) else _ROOM
        self._joined = dict(inside.joined)
        self._first = BEFORE_ALL
        self._absent: dict[str, deque[tuple[int, int]]] = {name: deque() for name in inside.windows}
        self._seen = self._whole = 0.0
        self.trimmed = dict.fromkeys(inside.windows, 0)
        self.over = False

    def admit(self, incoming: Incoming) -> None:
        """Refuse only what may not be met by leaving results out."""
        if self.over and self._budget.strict:
            raise BudgetError(
                f"{self._account.held():,} are held, and completeness is at {self.completeness:.3f}: the budget "
                f"({self._budget}) cannot be met. Give it more memory, smaller windows, or a lower min_completeness."
            )

    def work(self, reach: Reach) -> Rows:
        """Count what was looked at, then make room."""
        self._count()
        least = self._budget.min_completeness
        if self._account.held() > self._account.limit:
            self.over = least is not None and self.completeness <= least
            if not self.over:
                self._divide()
        yield from ()

    def _count(self) -> None:
        inside = self._inside
        if self._first == BEFORE_ALL:
            self._first = inside.latest()
        absent = {name: self._missing(name) for name in inside.windows}
        stored = {name: len(window) for name, window in inside.windows.items()}
        for name, joined in inside.joined.items():
            came, self._joined[name] = joined - self._joined[name], joined
            if came:
                others = [other for other in stored if other != name]
                self._seen += came * prod(stored[other] for other in others)
                self._whole += came * prod(stored[other] + absent[other] for other in others)

    def _missing(self, name: str) -> int:
        """Tuples that would still be in the window."""
        left, oldest = self._absent[name], self._inside.latest() - self._inside.widths[name]
        while left and left[0][0] < oldest:
            left.popleft()
        return sum(count for _, count in left)

    def _divide(self) -> None:
        inside = self._inside
        self._inside.hold.write()
        elapsed = max(1, inside.latest() - self._first)
        rates = {name: max(joined, 1) / elapsed for name, joined in inside.joined.items()}
        full = {name: len(window) + self._missing(name) for name, window in inside.windows.items()}
        sizes = {name: self._account.per_tuple(name) for name in inside.windows}
        memory = max(0.0, self._room * self._account.limit - self._account.given_later())
        for name, tuples in allocate_memory(rates, full, memory, sizes).items():
            self._keep_newest(name, int(tuples))

    def _keep_newest(self, name: str, tuples: int) -> None:
        window = self._inside.windows[name]
        gone = len(window) - max(tuples, window.hidden)
        if gone > 0:
            slot = window.tail - window.base
            self._absent[name].append((int(window.times[slot : slot + gone].max()), gone))
            self.trimmed[name] += gone
            window.forget(window.tail + gone)
            window.shrink()

    @property
    def results(self) -> int:
        """Results made so far."""
        return self._inside.hold.results + len(self._inside.hold)

    @property
    def missed(self) -> float:
        """About how many were not."""
        return self.results * (self._whole / self._seen - 1) if self._seen else 0.0

    @property
    def completeness(self) -> float:
        """The share of all results that was made."""
        return self.results / (self.results + self.missed) if self.results else 1.0

    def metrics(self) -> dict[str, Any]:
        """What is held, what has left, and what is missing for it."""
        missed, seen = self.missed, min(self.results, sum(self._inside.joined.values()))
        band = 2 * (len(self._inside.windows) - 1) * (sqrt(missed) + missed / sqrt(max(seen, 1)))
        return {
            "policy": "harvest",
            "limit": self._account.limit,
            "held": self._account.held(),
            "trimmed": dict(self.trimmed),
            "missed": missed,
            "missed_band": (max(0.0, missed - band), missed + band),
            "completeness": self.completeness,
            "over": self.over,
        }
