"""What runs a plan: one engine under control, or a tree of them if the query asks for one."""

from collections.abc import Callable
from dataclasses import dataclass

from dovetail.control.steered import Steered
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Engine, Stopwatch
from dovetail.engine.operator.tree import Tree
from dovetail.engine.policies.spill.store import PartStore
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.split_query import asked_tree, split_query


@dataclass(frozen=True)
class Hands:
    """What an operator is given from outside; a simulation hands in its own.

    A stopwatch, a meter of CPU time, how many tuples to join at a time, and where to spill to.
    """

    stopwatch: Stopwatch | None = None
    meter: Callable[[], float] | None = None
    block_rows: int | None = None
    store: PartStore | None = None


def operator_of(plan: Plan, hands: Hands | None = None) -> Operator:
    """The operator of a query: an engine with its controller, or a tree of these."""
    hands = hands or Hands()
    tree = asked_tree(plan.query)
    if tree is None:
        return steered(plan, hands)
    top = split_query(plan.query, tree)
    return Tree(plan.query, top, [steered(plan_query(each.query), hands) for each in top.operators])


def steered(plan: Plan, hands: Hands) -> Steered:
    """One engine with its controller."""
    engine = Engine(plan, hands.stopwatch, hands.block_rows, hands.store)
    return Steered(engine, plan.query, hands.meter)
