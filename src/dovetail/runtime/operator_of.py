"""What runs a plan: one engine under control, one per cell for several threads, or a tree of these if asked for."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from dovetail.control.steered import Steered
from dovetail.engine.operator.asof import AsOfOperator
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Engine, Stopwatch
from dovetail.engine.operator.tree import Tree
from dovetail.engine.policies.spill.store import PartStore
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.split_query import asked_tree, split_query
from dovetail.plan.thread_cells import thread_grid
from dovetail.runtime.threads.cells import Cells
from dovetail.runtime.wall_stopwatch import WallStopwatch


@dataclass(frozen=True)
class Hands:
    """What an operator is given from outside; a simulation hands in its own.

    A stopwatch, a meter of CPU time, how many tuples to join at a time, where to spill to, and how many threads may
    join (with more than one, each measures its own time).
    """

    stopwatch: Stopwatch | None = None
    meter: Callable[[], float] | None = None
    block_rows: int | None = None
    store: PartStore | None = None
    threads: int = 1


def operator_of(plan: Plan, hands: Hands | None = None) -> Operator:
    """The operator of a query, a tree of them, or that of an as-of join."""
    hands = hands or Hands()
    if plan.query.answered is not None:
        return AsOfOperator(plan)
    tree = asked_tree(plan.query)
    if tree is None:
        return threaded(plan, hands)
    top = split_query(plan.query, tree)
    return Tree(plan.query, top, [threaded(plan_query(each.query), hands) for each in top.operators])


def threaded(plan: Plan, hands: Hands) -> Operator:
    """One engine, or one for each cell that several threads can join."""
    if hands.threads == 1:
        return steered(plan, hands)
    grid = thread_grid(plan.query, hands.threads)
    if grid.cells == 1:
        return steered(plan, hands)
    return Cells(plan, grid, lambda: steered(plan, replace(hands, stopwatch=WallStopwatch(plan.query.order))))


def steered(plan: Plan, hands: Hands) -> Steered:
    """One engine with its controller."""
    engine = Engine(plan, hands.stopwatch, hands.block_rows, hands.store)
    return Steered(engine, plan.query, hands.meter)
