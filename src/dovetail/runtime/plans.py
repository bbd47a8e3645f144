"""The plans of whatever runs, with what was measured beside what was predicted."""

from typing import Any

from dovetail.control.shaped import Shaped
from dovetail.engine.operator.asof import AsOfOperator
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.readings import Readings
from dovetail.engine.operator.tree import Tree
from dovetail.model.statistics import together
from dovetail.plan.asof_report import asof_report
from dovetail.plan.assume import assume
from dovetail.plan.calibrate import load_weights
from dovetail.plan.report import plan_report
from dovetail.plan.split_operator import OperatorPlan
from dovetail.plan.tree_report import BY_HAND, CHEAPEST, query_report, tree_report
from dovetail.runtime.threads.cells import Cells


def plans_of(operator: Operator) -> list[dict[str, Any]]:
    """The plan of every engine; ``gives`` names its results as a stream of another, ``queries`` those of a group."""
    return [_labelled(each) | measured_report(each) for each in operator.statistics()]


def _labelled(readings: Readings) -> dict[str, Any]:
    gives = {"gives": readings.gives} if readings.gives else {}
    return gives | ({"queries": list(readings.queries)} if readings.queries else {})


def measured_report(readings: Readings) -> dict[str, Any]:
    """The plan of an engine with what it has seen; before it has seen anything, with assumptions."""
    if not readings.observed.ready:
        return plan_report(readings.plan, assume(readings.plan.query), load_weights(), by_rule=True)
    by_rule = readings.decision.version == 0
    known = together([each.observed.sized() for each in (readings, *readings.others)])
    return plan_report(readings.plan, known, load_weights(), by_rule)


def running_plan(operator: Operator) -> dict[str, Any]:
    """The plan of a run's one query: of its engine, or of the tree that it runs as."""
    if isinstance(operator, Cells) and (len(operator.cells) == 1 or isinstance(operator.cells[0], AsOfOperator)):
        return running_plan(operator.cells[0])
    if isinstance(operator, AsOfOperator):
        return asof_report(operator.plan.query)
    if isinstance(operator, Shaped) and isinstance(operator.operator, Tree):
        return _tree_plan(operator.operator) | {"plan_why": CHEAPEST}
    return _tree_plan(operator) if isinstance(operator, Tree) else measured_report(operator.statistics()[0])


def _tree_plan(tree: Tree) -> dict[str, Any]:
    """The plan with what each operator has seen; before all have, with assumptions."""
    readings = tree.statistics()
    if not all(each.observed.ready for each in readings):
        return query_report(tree.whole, load_weights())
    plans = [OperatorPlan(each.plan, each.observed.sized()) for each in readings]
    by_rule = not any(each.decision.version for each in readings)
    return tree_report(tree.top, plans, load_weights(), by_rule) | {"plan_why": BY_HAND}
