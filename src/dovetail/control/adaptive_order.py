"""The adaptive order at run time: after every batch, decide whether ordered output waits at the door or at the exit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dovetail.control.adapt_order import AdaptOrder
from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.operator.readings import Readings
from dovetail.model.decision import Decision

_LEAST_US = 100_000  # of event time between two looks: rates over less say little

_Counters = tuple[int, dict[str, int], dict[str, float], dict[str, int]]


class AdaptiveOrder:
    """What it has learned of rates and costs is part of the state, so that it goes on learning after a restart."""

    def __init__(self, alpha: float) -> None:
        self.control = AdaptOrder(alpha)
        self._before: _Counters = BEFORE_ALL, {}, {}, {}

    def decide(self, readings: Readings, decision: Decision) -> Decision:
        """The decision with where the next batch waits; batches of little event time are judged together."""
        if readings.latest - self._before[0] < _LEAST_US:
            return decision
        before = self._before
        latest, arrived, busy_s, joined = self._before = _counters(readings)
        self.control.observe(
            (latest - before[0]) / 1e6 if before[0] > BEFORE_ALL else 0.0,
            {name: count - before[1].get(name, 0) for name, count in arrived.items()},
            {name: spent - before[2].get(name, 0.0) for name, spent in busy_s.items()},
            {name: count - before[3].get(name, 0) for name, count in joined.items()},
        )
        waits = self.control.decide()
        return decision if waits == decision.waits else replace(decision, waits=waits)

    def header(self) -> dict[str, Any]:
        """What it has learned; the counters of the operator begin anew where it goes on, and so do its own."""
        return {"learned": self.control.to_json(), "latest": self._before[0]}

    def restore(self, header: Mapping[str, Any], readings: Readings) -> None:
        """Go on from there."""
        self.control.restore(header["learned"])
        _, arrived, busy_s, joined = _counters(readings)
        self._before = int(header["latest"]), arrived, busy_s, joined


def _counters(readings: Readings) -> _Counters:
    return readings.latest, readings.arrived(), readings.busy_s(), readings.joined()
