"""The policy "harvest" for memory: windows become shorter, where that costs the fewest results.

When too much is held, memory is divided among the streams by what a stored tuple of each is worth (``allocate_memory``
of the plan), and every window keeps its newest tuples. A stream that gets nothing still probes. With a CPU budget as
well, control says how far back tuples are worth keeping.

    rates 10 and 50 per second, memory for 1000 tuples: A keeps 1000, B none; B's tuples meet A's as they arrive

Results have ages of their own, so the newest tuples tell nothing of what the older ones would have met. A tenth of the
memory therefore holds a sample of the older tuples (``sample_older``): a result of one of which every fiftieth was kept
stands for fifty (``Weights``), which is where the estimate of what is missing, and its band, comes from. Where nothing
can be sampled (a row window, memory for a handful of tuples) the estimate takes what left to match as often as what
stayed, and the band says that nothing is known.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod, sqrt
from typing import Any

import numpy as np

from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.marks import Marks
from dovetail.engine.buffer.section import HeaderSection, Section
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.policies.memory.account import Account
from dovetail.engine.policies.memory.policy import Incoming, Reach, Unlimited, others
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.query_accounts import QueryAccounts
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.engine.policies.shed.weights import WHOLE, Weights
from dovetail.engine.policies.stages import Rows, Stages
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget, Tuples
from dovetail.model.shedding import FAR
from dovetail.plan.allocate_memory import allocate_memory

_ROOM = 0.7  # of a budget in bytes, is kept: the rest fills until the next division
_LATE = 0.25  # of a budget in bytes, may be diverted rows that nobody takes: windows need the rest for results
_SAMPLE = 0.1  # of the memory holds older tuples, so that it is known what they would have met


class Trim(HeaderSection, Unlimited):
    """Keeps the newest tuples of each stream, as many as its share, and a sample of the older ones."""

    section = "memory"

    def __init__(self, stages: Stages, budget: Budget, shedding: Shedding | None) -> None:
        assert budget.memory is not None
        self._stages, self._budget, self._shedding = stages, budget, shedding
        self._account = Account(stages, budget.memory)
        self._random = np.random.default_rng(0)
        self._seen_before = dict(stages.store.joined)
        self._came = dict.fromkeys(stages.store.windows, 0)
        self._first = BEFORE_ALL
        self._absent: dict[str, deque[tuple[int, int]]] = {name: deque() for name in stages.store.windows}
        self._looked = 0.0, 0.0  # combinations looked at, and those that there would have been
        self.trimmed = dict.fromkeys(stages.store.windows, 0)
        self.over = False
        self._weights = Weights(stages.store.windows, Estimate()) if shedding is None else shedding.weights
        self._shares = {
            name: Marks("share", name, window, WHOLE)
            for name, window in stages.store.windows.items()
            if name not in stages.store.row_windows
        }
        self._weights.shares.update(self._shares)
        self.queries = QueryAccounts(stages.store.windows, self._weights) if shedding is None else shedding.queries

    @property
    def _estimate(self) -> Estimate:
        return self._weights.estimate

    def admit(self, incoming: Incoming) -> None:
        """Refuse only what may not be met by leaving results out."""
        if self.over and self._budget.strict:
            raise BudgetError(
                f"{self._account.held():,} are held, and completeness is at {self.completeness:.3f}: the budget "
                f"({self._budget}) cannot be met. Give it more memory, smaller windows, or a lower min_completeness."
            )

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """Results were made; with a CPU budget, whoever keeps that has counted them."""
        if self._shedding is None:
            _count(self._estimate, self._weights, results)
            for own, account in self.queries.of(results, places):
                _count(account.estimate, account.weights, own)

    def work(self, pending: Mapping[str, int]) -> Rows:
        """Count what was looked at, then make room."""
        self._count()
        if not isinstance(self._budget.memory, Tuples):
            self._stages.inputs.diverted.keep_newest(_LATE * self._account.limit)
        least = self._budget.min_completeness
        if self._account.held() > self._account.limit:
            self.over = least is not None and self.completeness <= least
            if not self.over:
                self._divide(self._stages.inputs.reach(pending))
        yield from ()

    def _count(self) -> None:
        stages = self._stages
        if self._first == BEFORE_ALL:
            self._first = stages.inputs.latest
        absent = {name: self._missing(name) for name in stages.store.windows}
        stored = {name: len(window) for name, window in stages.store.windows.items()}
        for name, joined in stages.store.joined.items():
            came, self._seen_before[name] = joined - self._seen_before[name], joined
            self._came[name] += came
            if came:
                others = [other for other in stored if other != name]
                seen, whole = self._looked
                seen += came * prod(stored[other] for other in others)
                self._looked = seen, whole + came * prod(stored[other] + absent[other] for other in others)

    def _missing(self, name: str) -> int:
        """Tuples that would still be in the window."""
        left, oldest = self._absent[name], self._stages.inputs.latest - self._stages.store.widths[name]
        while left and left[0][0] < oldest:
            left.popleft()
        return sum(count for _, count in left)

    def _divide(self, reach: Reach) -> None:
        self._stages.exit.hold.materialise()
        memory = max(0.0, self.limit - self._account.given_later())
        sampled = self._sampled(memory)
        left = memory - sum(count * self.sizes[name] for name, count in sampled.items())
        for name, tuples in self._newest(left, reach).items():
            if name in sampled:
                self._keep_sample(name, int(tuples), sampled[name])
            else:
                self._keep_newest(name, int(tuples))

    def _sampled(self, memory: float) -> dict[str, int]:
        """How many older tuples of each stream to keep; none of any if that would be less than one of each."""
        sizes, each = self.sizes, _SAMPLE * memory / len(self._stages.store.windows)
        counts = {name: int(each / sizes[name]) for name in self._shares}
        return counts if all(counts.values()) else {}

    def _newest(self, memory: float, reach: Reach) -> Mapping[str, float]:
        """Tuples of each stream: by what each is worth, or, where slices are chosen, as far back as control says."""
        stages, sizes = self._stages, self.sizes
        full = {name: self._useful(name, reach) for name in stages.store.windows}
        if self._shedding is not None and self._budget.policy == "harvest":
            share = min(1.0, memory / max(sum(full[name] * sizes[name] for name in full), 1.0))
            return {name: share * tuples for name, tuples in full.items()}
        elapsed = max(1, stages.inputs.latest - self._first)
        rates = {name: max(came, 1) / elapsed for name, came in self._came.items()}
        return allocate_memory(rates, full, memory, sizes)

    def _useful(self, name: str, reach: Reach) -> int:
        """Tuples that an arrival may still look at: all of the window, or those up to the oldest slice chosen."""
        window, shedding = self._stages.store.windows[name], self._shedding
        horizon = FAR if shedding is None else shedding.horizon(name)
        if horizon >= min(FAR, self._stages.store.widths[name]):
            return len(window) + self._missing(name)
        return int(window.end - window.id_from(others(reach, name) - horizon))

    @property
    def sizes(self) -> dict[str, float]:
        """What a stored tuple of each stream takes."""
        return {name: self._account.per_tuple(name) for name in self._stages.store.windows}

    @property
    def limit(self) -> float:
        """How much may be stored."""
        return (1.0 if isinstance(self._budget.memory, Tuples) else _ROOM) * self._account.limit

    def _keep_newest(self, name: str, tuples: int) -> None:
        window = self._stages.store.windows[name]
        gone = len(window) - max(tuples, window.hidden)
        if gone > 0:
            self._left(name, gone, gone)
            self._estimate.blind += gone
            if name in self._stages.store.row_windows:
                self._stages.store.row_windows[name].keep_newest(len(window) - gone)
            else:
                window.forget(window.tail + gone)
                window.shrink()

    def _keep_sample(self, name: str, tuples: int, sampled: int) -> None:
        """The newest so many, and so many of the others; each of those then stands for more."""
        window, marks = self._stages.store.windows[name], self._shares[name]
        older = len(window) - tuples
        if older > sampled:
            share, kept = sample_older(marks.range(window.tail, window.tail + older), sampled, self._random)
            self._left(name, older, older - len(kept))
            self._estimate.older_unit = WHOLE / share
            ids = window.tail + kept
            marks.write(ids, np.minimum(marks[ids], share))
            window.keep_only(np.concatenate([ids, np.arange(window.tail + older, window.end)]))

    def _left(self, name: str, among: int, tuples: int) -> None:
        """So many of the oldest tuples leave."""
        window = self._stages.store.windows[name]
        slot = window.tail - window.base
        self._absent[name].append((int(window.times[slot : slot + among].max()), tuples))
        self.trimmed[name] += tuples
        self._estimate.left_out += tuples

    @property
    def estimate(self) -> Estimate:
        """What is missing for want of memory, and of CPU if that is limited too.

        The sample is right on average and may be small; that what left matched as often as what stayed is a precise
        guess and may be wrong. Where the sample does not speak against the guess, the guess counts.
        """
        return self.estimate_of(self._estimate)

    @property
    def counted(self) -> Estimate:
        """What was counted, before any guess."""
        return self._estimate

    def estimate_of(self, known: Estimate) -> Estimate:
        """The same from the account of one query among several."""
        missed = known.missed
        if known.blind:
            missed += known.total * self._more
        elif self._shedding is None:
            error = sqrt(known.dropping_variance)
            missed = min(max(known.produced * self._more, missed - error), missed + error)
        return replace(known, missed=missed, possible=float(prod(self._came.values())))

    @property
    def _more(self) -> float:
        """How many more combinations whole windows would have made, for each one looked at."""
        seen, whole = self._looked
        return whole / seen - 1 if seen else 0.0

    @property
    def completeness(self) -> float:
        """The share of all results that was made."""
        return self.estimate.completeness

    def sections(self) -> Sequence[Section]:
        """Of which share of the tuples like it each stored one is, and what was counted."""
        return (*self._shares.values(), self, *([self.queries] if self._shedding is None else []))

    def header(self) -> dict[str, Any]:
        return {
            "estimate": self._estimate.to_json(),
            "trimmed": self.trimmed,
            "came": self._came,
            "first": self._first,
            "looked": list(self._looked),
            "absent": {name: list(left) for name, left in self._absent.items()},
            "over": self.over,
        }

    def restore(self, header: Mapping[str, Any]) -> None:
        """Go on counting; without an account (an older state has none) what was missed before is not known."""
        if not header:
            self._estimate.blind += 1
            return
        if self._shedding is None:
            self._estimate.restore(header["estimate"])
        windows = self._stages.store.windows
        self.trimmed, self._came = ({name: int(header[part][name]) for name in windows} for part in ("trimmed", "came"))
        self._first, self.over = int(header["first"]), bool(header["over"])
        seen, whole = map(float, header["looked"])
        self._looked = seen, whole
        absent = {name: header["absent"][name] for name in windows}
        self._absent = {name: deque((int(at), int(n)) for at, n in left) for name, left in absent.items()}

    def share(self, load: float) -> None:
        """More or less of the budget, by the load."""
        self._account.share(load)

    def metrics(self) -> dict[str, Any]:
        """What is held, what has left, and what is missing for it."""
        found = self.estimate.report()
        return {
            "policy": "harvest",
            "limit": self._account.limit,
            "held": self._account.held(),
            "trimmed": dict(self.trimmed),
            "missed": found["missed"],
            "missed_band": (found["missed_low"], found["missed_high"]),
            **{name: found[name] for name in ("completeness", "completeness_low", "completeness_high")},
            "over": self.over,
        }


def _count(estimate: Estimate, weights: Weights, results: Partial) -> None:
    estimate.produced += len(results)
    estimate.missed += float((weights.of(results) - 1).sum())


def sample_older(shares: Ids, count: int, random: np.random.Generator) -> tuple[int, Ids]:
    """The share that is then kept of all tuples, and which of these stay, about ``count`` of them and no more.

    All have the same chance in the end, also those that were sampled before. Every place is drawn with its own chance
    from one random beginning (systematic sampling), so that the number is as wanted. Of tuples that stand for 1, 1, 4
    and 4 others, two are wanted: each then stands for five.

    >>> share, kept = sample_older(np.array([WHOLE, WHOLE, WHOLE // 4, WHOLE // 4]), 2, np.random.default_rng(0))
    >>> WHOLE // share, len(kept)
    (5, 2)
    """
    share = max(1, int(min(WHOLE, WHOLE * count / float((WHOLE / shares).sum()))))
    chances = np.minimum(1.0, share / shares)
    steps = np.floor(np.cumsum(chances) + random.random())
    return share, np.flatnonzero(np.diff(steps, prepend=0.0) > 0)[-count:]
