"""Whether ordered output should wait at the door or at the exit (Hammad, Aref, Elmagarmid: in-order execution).

Waiting at the door (Sync-Filter) holds no output, but the fast streams' tuples are only joined once
the slow one has spoken; waiting at the exit (Filter-Order) joins meanwhile. The gain is x / (1 + x)
with

    x = sum, over all streams but the slowest, of rate times time per arrival

For two streams that is the paper's ``c w l1 l2``: c = 0.5 ms, w = 60 s, rates 1 and 10 give
10 * (0.0005 * 60 * 1) = 0.3. Rates are per second of event time; both they and the times follow change.

Estimates go up and down around what they estimate. So output that waits at the exit goes on doing so until x is clearly
below ``alpha``: where x is ``alpha`` itself, it would otherwise wait at the door for half of the time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Any, Literal

_MEMORY_S = 20.0  # seconds of event time after which an observation counts for a third: long enough for slow streams
_CLEARLY = 0.62  # of alpha: estimates of streams with a tuple per second go down to this
_ESTIMATES = ("seen_s", "arrived", "busy_s", "joined")


@dataclass
class AdaptOrder:
    """Running estimates, and the decision that follows from them."""

    alpha: float
    seen_s: float = 0.0
    arrived: dict[str, float] = field(default_factory=dict)
    busy_s: dict[str, float] = field(default_factory=dict)
    joined: dict[str, float] = field(default_factory=dict)
    holds: bool = False

    def observe(
        self, passed_s: float, arrived: Mapping[str, int], busy_s: Mapping[str, float], joined: Mapping[str, int]
    ) -> None:
        """Event time went on by so much; so many tuples arrived; so much time went into joining so many."""
        fade = exp(-max(passed_s, 0.0) / _MEMORY_S)
        self.seen_s = self.seen_s * fade + max(passed_s, 0.0)
        for estimate, fresh in ((self.arrived, arrived), (self.busy_s, busy_s), (self.joined, joined)):
            for name in estimate.keys() | fresh.keys():
                estimate[name] = estimate.get(name, 0.0) * fade + fresh.get(name, 0)

    @property
    def gain(self) -> float:
        """The paper's x: the load that could be carried while waiting."""
        if not self.seen_s or len(self.arrived) < 2:
            return 0.0
        loads = {name: self._load(name) for name in self.arrived}
        slowest = min(self.arrived, key=lambda name: self.arrived[name])
        return sum(load for name, load in loads.items() if name != slowest)

    def _load(self, name: str) -> float:
        joined = self.joined.get(name, 0.0)
        return self.arrived[name] / self.seen_s * (self.busy_s.get(name, 0.0) / joined) if joined else 0.0

    def decide(self) -> Literal["sync", "hold"]:
        """Where to wait from now on."""
        self.holds = self.gain >= (_CLEARLY * self.alpha if self.holds else self.alpha)
        return "hold" if self.holds else "sync"

    def to_json(self) -> dict[str, Any]:
        """The estimates as plain values."""
        return {name: getattr(self, name) for name in _ESTIMATES} | {"holds": self.holds}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Back from plain values."""
        self.seen_s, self.holds = float(values["seen_s"]), bool(values.get("holds", False))
        for name in _ESTIMATES[1:]:
            setattr(self, name, {stream: float(value) for stream, value in values[name].items()})
