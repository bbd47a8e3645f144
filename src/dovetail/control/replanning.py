"""Planning while a join runs: whenever the operator has taken a reading, look whether another plan would cost less."""

from dataclasses import replace

from dovetail.control.replan import Replan
from dovetail.engine.operator.readings import Readings
from dovetail.model.decision import Decision
from dovetail.model.query import JoinQuery
from dovetail.plan.calibrate import load_weights
from dovetail.plan.choose_plan import Planner, decision_of
from dovetail.plan.cost import Weights


class Replanning:
    """The planner of one operator, with this machine's weights or others.

    What it has seen of the streams is not kept over a restart: it is measured again within seconds.
    """

    def __init__(self, query: JoinQuery, weights: Weights | None = None) -> None:
        self._control = Replan(Planner(query, weights or load_weights()))
        self._readings = 0

    def decide(self, readings: Readings, decision: Decision) -> Decision:
        """The decision with another plan, if one is clearly cheaper; asked after every reading."""
        observed = readings.observed
        if observed.readings == self._readings:
            return decision
        self._readings = observed.readings
        if decision.shed.picks is not None:
            return decision  # what slices promise was learned along these orders
        plan = self._control.decide(readings.plan, observed.glance(), observed.statistics)
        observed.curious = self._control.undecided
        if self._control.drifted:
            observed.startle()
        if plan is None:
            return decision
        found = decision_of(plan, decision.version + 1)
        return replace(found, waits=decision.waits, shed=decision.shed, pace=decision.pace)
