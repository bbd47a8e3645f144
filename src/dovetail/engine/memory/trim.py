"""The policy "harvest" for memory: windows become shorter, where that costs the fewest results.

When too much is held, memory is divided among the streams by what a stored tuple of each is worth (``allocate_memory``
of the plan), and every window keeps its newest tuples. A stream that gets nothing still probes. What has left is
counted: from it and from the results made follows how many are missing. With a CPU budget as well, control
says how far back tuples are worth keeping, and results that were not looked for count as made: they are missing
already.

    rates 10 and 50 per second, memory for 1000 tuples: A keeps 1000, B none; B's tuples meet A's as they arrive

Combinations looked at and results made give a selectivity; combinations that would have been looked at with whole
windows give the results that would have been made. The band is two standard deviations of counting
what was made, results or arrivals where those are fewer, times the number of streams met: results of one stored tuple
come together.
"""

from collections import deque
from collections.abc import Mapping
from math import prod, sqrt
from typing import Any

from dovetail.engine.admit.watermarks import BEFORE_ALL
from dovetail.engine.memory.account import Account
from dovetail.engine.memory.insides import Insides, Rows
from dovetail.engine.memory.keeper import Carefree, Incoming, Reach, others
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget, Tuples
from dovetail.model.shedding import FAR
from dovetail.plan.allocate_memory import allocate_memory

_ROOM = 0.7  # of a budget in bytes, is kept: the rest fills until the next division
_LATE = 0.25  # of a budget in bytes, may be diverted rows that nobody takes: windows need the rest for results


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
        if not isinstance(self._budget.memory, Tuples):
            self._inside.diverted.keep_newest(_LATE * self._account.limit)
        least = self._budget.min_completeness
        if self._account.held() > self._account.limit:
            self.over = least is not None and self.completeness <= least
            if not self.over:
                self._divide(reach)
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

    def _divide(self, reach: Reach) -> None:
        self._inside.hold.write()
        memory = max(0.0, self.limit - self._account.given_later())
        for name, tuples in self._shares(memory, reach).items():
            self._keep_newest(name, int(tuples))

    def _shares(self, memory: float, reach: Reach) -> Mapping[str, float]:
        """Tuples of each stream: by what each is worth, or, where slices are chosen, as far back as control says."""
        inside, sizes = self._inside, self.sizes
        full = {name: self._useful(name, reach) for name in inside.windows}
        if inside.shedding is not None and self._budget.policy == "harvest":
            share = min(1.0, memory / max(sum(full[name] * sizes[name] for name in full), 1.0))
            return {name: share * tuples for name, tuples in full.items()}
        elapsed = max(1, inside.latest() - self._first)
        rates = {name: max(joined, 1) / elapsed for name, joined in inside.joined.items()}
        return allocate_memory(rates, full, memory, sizes)

    def _useful(self, name: str, reach: Reach) -> int:
        """Tuples that an arrival may still look at: all of the window, or those up to the oldest slice chosen."""
        window, shedding = self._inside.windows[name], self._inside.shedding
        horizon = FAR if shedding is None else shedding.horizon(name)
        if horizon >= min(FAR, self._inside.widths[name]):
            return len(window) + self._missing(name)
        return int(window.end - window.id_from(others(reach, name) - horizon))

    @property
    def sizes(self) -> dict[str, float]:
        """What a stored tuple of each stream takes."""
        return {name: self._account.per_tuple(name) for name in self._inside.windows}

    @property
    def limit(self) -> float:
        """How much may be stored."""
        return self._room * self._account.limit

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
        """About how many were not, for want of memory."""
        return self._possible * (self._whole / self._seen - 1) if self._seen else 0.0

    @property
    def _possible(self) -> float:
        """Results among what was stored: those made, and those that were not looked for."""
        return self.results + (self._inside.shedding.estimate.missed if self._inside.shedding else 0.0)

    @property
    def completeness(self) -> float:
        """The share of all results that was made."""
        return self.results / (self._possible + self.missed) if self.results else 1.0

    @property
    def spread(self) -> float:
        """How far that may be from the truth."""
        missed, seen = self.missed, min(self.results, sum(self._inside.joined.values()))
        return 2 * (len(self._inside.windows) - 1) * (sqrt(missed) + missed / sqrt(max(seen, 1)))

    def metrics(self) -> dict[str, Any]:
        """What is held, what has left, and what is missing for it."""
        missed, band = self.missed, self.spread
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
