"""The decision in force, and the one that will be next.

A decision is taken up between two blocks: its plan, where ordered output waits, and what is left out. Its pace counts
at once. It is part of the state, so that a run that goes on elsewhere goes on with the same plan.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dovetail.engine.block.block import Block
from dovetail.engine.buffer.section import HeaderSection
from dovetail.engine.buffer.stored_as import stored_as
from dovetail.engine.operator.line import Line
from dovetail.errors import StateError
from dovetail.model.decision import Decision
from dovetail.plan.choose_plan import decision_of, plan_of


class Adopted(HeaderSection):
    """What one line follows."""

    section = "decision"

    def __init__(self, line: Line) -> None:
        self._line = line
        self.in_force = decision_of(line.store.plan)
        self._next: Decision | None = None

    @property
    def latest(self) -> Decision:
        """The decision last given, in force or about to be."""
        return self._next or self.in_force

    def adopt(self, decision: Decision) -> None:
        """Go on as decided: with its pace at once, with all else from the next block on."""
        self._line.pace = decision.pace
        self._next = decision

    def take_up(self, ahead: Mapping[str, Block]) -> None:
        """Follow the next decision, unless blocks that are still ahead lack numbers that its probes read."""
        decided = self._next
        if decided is None:
            return
        if not decided.same_plan(self.in_force):
            plan = plan_of(self._line.store.plan.query, decided)
            read = ((name, attribute) for name in ahead for attribute in plan.storage[name].attributes)
            if not all(each in ahead[name].attributes or stored_as(name, each) for name, each in read):
                return
            self._line.adopt_plan(plan)
        before = self.in_force
        if (decided.waits, decided.shed, decided.load) != (before.waits, before.shed, before.load):
            self._line.adopt_rest(decided)
        self.in_force, self._next = decided, None

    def header(self) -> dict[str, Any]:
        return self.in_force.to_json()

    def restore(self, header: dict[str, Any]) -> None:
        """Read back after everything that a decision changes; a plan that was never changed is the query's own."""
        decided = Decision.from_json(header)
        if any(len(order) != len(self._line.store.windows) - 1 for order in decided.orders.values()):
            raise StateError(f"the state has probe orders that leave streams out: {dict(decided.orders)}")
        picks, names = decided.shed.picks, set(self._line.store.windows)
        if decided.version and not decided.orders.keys() == decided.algorithms.keys() == names:
            raise StateError(f"the state has a plan for other streams than {sorted(names)}")
        if picks is not None and {own: {own, *each} for own, each in picks.items()} != dict.fromkeys(names, names):
            raise StateError("the state leaves out slices of other streams than the query has")
        if not decided.version:
            decided = replace(self.in_force, waits=decided.waits, shed=decided.shed, load=decided.load)
        elif not decided.same_plan(self.in_force):
            self._line.adopt_plan(plan_of(self._line.store.plan.query, decided))
        self.in_force, self._next = decided, None
        self._line.adopt_rest(decided)
        self._line.restart_pace()
