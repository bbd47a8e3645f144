"""What control may read of a running operator: the only thing that it knows of it."""

from dataclasses import dataclass, replace
from math import prod

from dovetail.engine.operator.line import Line
from dovetail.engine.operator.observed import Observed
from dovetail.engine.policies.memory.trim import Trim
from dovetail.engine.policies.shed.estimate import Estimate
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.model.decision import Decision
from dovetail.plan.physical import Plan


@dataclass(frozen=True, slots=True)
class Readings:
    """A look at one line; numbers are read when they are asked for.

    ``decision``: the one last given; ``gives``: the name of its results as a stream of another operator; ``queries``:
    those that it is for, if it is a group; ``others``: the same operator's other cells, which threads join.
    """

    line: Line
    decision: Decision
    gives: str | None = None
    queries: tuple[str, ...] = ()
    others: "tuple[Readings, ...]" = ()

    @property
    def plan(self) -> Plan:
        """The plan in force."""
        return self.line.store.plan

    @property
    def observed(self) -> Observed:
        """Rates, windows, matches: running statistics."""
        return self.line.observed

    @property
    def latest(self) -> int:
        """The largest event time that came in."""
        return self.line.inputs.latest

    def arrived(self) -> dict[str, int]:
        """How many rows each stream has sent."""
        return self.line.inputs.arrived()

    def joined(self) -> dict[str, int]:
        """How many tuples of each stream have been joined."""
        return dict(self.line.store.joined)

    def busy_s(self) -> dict[str, float]:
        """The seconds that joining each stream's blocks has taken, as far as it was measured."""
        return dict(self.line.busy_s)

    @property
    def waiting(self) -> int:
        """How many rows wait at the gate."""
        return self.line.inputs.gate.waiting

    @property
    def shedding(self) -> Shedding | None:
        """The account of what is left out under a CPU budget."""
        return self.line.shedding if isinstance(self.line.shedding, Shedding) else None

    @property
    def estimate(self) -> Estimate:
        """What is missing for want of CPU or memory, as counted, and what waits."""
        shed, waiting = self.shedding, self.waiting
        possible = float(prod(self.arrived().values()))
        if shed is not None:
            pending = waiting * shed.per_arrival
            return replace(shed.estimate, waiting=waiting, pending=pending, possible=possible)
        assert self.trimmed is not None, "only these two leave anything out"
        return replace(self.trimmed.counted, possible=possible)

    @property
    def trimmed(self) -> Trim | None:
        """The account of what left memory for good under a memory budget."""
        return self.line.memory if isinstance(self.line.memory, Trim) else None
