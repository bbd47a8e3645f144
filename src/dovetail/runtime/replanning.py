"""Planning while a join runs: whenever the engine has taken a reading, ask control, tell the engine."""

from typing import Any

from dovetail.control.replan import Replan
from dovetail.engine.operator.engine import Engine
from dovetail.plan.assume import assume
from dovetail.plan.calibrate import load_weights
from dovetail.plan.choose_plan import Planner, decision_of
from dovetail.plan.cost import Weights
from dovetail.plan.report import plan_report


class Replanning:
    """Ties one engine to its planner, with this machine's weights or others; it lives as long as the engine."""

    def __init__(self, engine: Engine, weights: Weights | None = None) -> None:
        self._engine = engine
        self._control = Replan(Planner(engine.plan.query, weights or load_weights()))
        engine.between_blocks = self.consider

    def consider(self) -> None:
        """Decide by what the engine knows now."""
        engine = self._engine
        if engine.shedding is not None and engine.shedding.decision.picks is not None:
            return  # what slices promise was learned along these orders
        plan = self._control.decide(engine.plan, engine.observed.glance(), engine.observed.statistics)
        engine.observed.curious = self._control.undecided
        if self._control.drifted:
            engine.observed.startle()
        if plan is not None:
            engine.replan(decision_of(plan, engine.decision.version + 1))


def measured_report(engine: Engine) -> dict[str, Any]:
    """The plan of an engine with what it has seen; before it has seen anything, with assumptions."""
    if not engine.observed.ready:
        return plan_report(engine.plan, assume(engine.plan.query), load_weights(), by_rule=True)
    by_rule = engine.decision.version == 0
    return plan_report(engine.plan, engine.observed.sized(), load_weights(), by_rule)
