"""The controller of one operator: statistics in, decisions out, at the same points whatever runs it.

    begin     before the operator works: from here on its CPU time counts
    step      between any two batches of results, and after the last: another plan? another pace?
    finish    a batch is done: where does ordered output wait from now on?
    tick      time has passed: more may be joined; at the end of an interval, what to leave out

What the controls have learned is a section of the state: a run that goes on elsewhere goes on learning.
"""

from collections.abc import Callable
from typing import Any

from dovetail.control.adaptive_order import AdaptiveOrder
from dovetail.control.replan import Replanning
from dovetail.engine.buffer.section import HeaderSection
from dovetail.engine.operator.contract import Steerable
from dovetail.engine.operator.readings import Readings
from dovetail.kernel import cpu_time
from dovetail.model.decision import Decision
from dovetail.model.order import Adaptive
from dovetail.model.query import JoinQuery


class Controller(HeaderSection):
    """Replanning, the adaptive order and the CPU budget of one operator, each if the query has it."""

    section = "control"

    def __init__(self, operator: Steerable, query: JoinQuery, meter: Callable[[], float] | None = None) -> None:
        self._operator = operator
        self.replanning: Replanning | None = Replanning(query)
        self._order = AdaptiveOrder(query.order.alpha) if isinstance(query.order, Adaptive) else None
        self.cpu = None
        self._in_batch = False
        if query.budget is not None and query.budget.cpu is not None:
            from dovetail.control.cpu_budget import CpuBudget  # its solvers take a while to load

            self.cpu = CpuBudget(query, query.budget, meter or cpu_time)

    @property
    def _readings(self) -> Readings:
        (readings,) = self._operator.statistics()
        return readings

    def begin(self) -> None:
        """The operator is about to work."""
        if self.cpu is not None:
            self.cpu.begin()

    def step(self) -> None:
        """Some results have come, or the operator asks to be looked at."""
        readings = self._readings
        decision = readings.decision
        if self.cpu is not None:
            decision = self.cpu.decide(readings, decision)
        if self.replanning is not None and not self._in_batch:
            decision = self.replanning.decide(readings, decision)
        self._adopt(decision, readings.decision)

    def finish(self) -> None:
        """A batch has been joined."""
        if self._order is not None:
            readings = self._readings
            self._adopt(self._order.decide(readings, readings.decision), readings.decision)

    def tick(self, now_us: int) -> None:
        """It is now this time."""
        if self.cpu is not None:
            readings = self._readings
            self._adopt(self.cpu.tick(now_us, readings, readings.decision), readings.decision)

    def begin_batch(self) -> None:
        """A batch begins that may be repeated: how far a CPU budget lets it go may not depend on the time it takes."""
        if self.cpu is not None:
            self._in_batch = True
            self.cpu.begin_batch(self._readings)

    def end_batch(self) -> None:
        """It is over; what it took decides about the next."""
        if self.cpu is not None:
            readings, self._in_batch = self._readings, False
            self._adopt(self.cpu.end_batch(readings, readings.decision), readings.decision)
            self.step()

    def _adopt(self, decision: Decision, before: Decision) -> None:
        if decision is not before:
            self._operator.adopt(decision)

    def header(self) -> dict[str, Any]:
        parts = {"order": self._order, "cpu": self.cpu}
        return {name: part.header() for name, part in parts.items() if part is not None}

    def restore(self, header: dict[str, Any]) -> None:
        for name, part in (("order", self._order), ("cpu", self.cpu)):
            if part is not None and name in header:
                part.restore(header[name], self._readings)

    def metrics(self) -> dict[str, Any]:
        """The account of the CPU budget, if there is one."""
        return {} if self.cpu is None else {"budget": self.cpu.metrics(self._readings)}
