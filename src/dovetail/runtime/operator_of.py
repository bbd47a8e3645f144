"""What runs a plan: one engine under control, one per cell for several threads, or a tree of these if asked for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from dovetail.control.shaped import Shaped
from dovetail.control.steered import Steered
from dovetail.engine.operator.asof import AsOfOperator
from dovetail.engine.operator.contract import Operator, Steerable
from dovetail.engine.operator.engine import Engine, Stopwatch
from dovetail.engine.operator.tree import Tree
from dovetail.engine.policies.spill.store import PartStore
from dovetail.model.query import JoinQuery
from dovetail.model.tree import Tree as TreeShape
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.share_budget import budgeted_tree
from dovetail.plan.split_operator import may_split
from dovetail.plan.split_query import asked_tree
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
        new = partial(AsOfOperator, plan, hands.store)
        grid = thread_grid(plan.query, hands.threads)
        return new() if grid.cells == 1 else Cells(plan, grid, new, new)
    tree = asked_tree(plan.query)
    return threaded(plan, hands) if tree is None else tree_of(plan, tree, hands)


def tree_of(plan: Plan, tree: TreeShape, hands: Hands, keeps: bool = False) -> Tree:
    """The operators of a tree."""
    top = budgeted_tree(plan.query, tree)
    return Tree(plan.query, top, [threaded(plan_query(each.query), hands) for each in top.operators], keeps)


def threaded(plan: Plan, hands: Hands) -> Operator:
    """One operator, or one for each cell that several threads can join."""
    alone = partial(shaped, plan, replace(hands, threads=1))
    grid = None if hands.threads == 1 else thread_grid(plan.query, hands.threads)
    if grid is None or grid.cells == 1:
        return alone()
    timed = partial(replace, hands, threads=1)
    return Cells(plan, grid, lambda: steered(plan, timed(stopwatch=WallStopwatch(plan.query.order))), alone)


def shaped(plan: Plan, hands: Hands) -> Steerable:
    """One engine, or what may become several while it runs."""
    if not may_change_shape(plan.query):
        return steered(plan, hands)
    build = partial(tree_of, plan, hands=hands, keeps=True)
    return Shaped(plan.query, lambda tree: steered(plan, hands) if tree is None else build(tree))


def may_change_shape(query: JoinQuery) -> bool:
    """Whether the choice is free, and all of the state can be dealt out again: none on disk, left out, handed over."""
    free = query.plan == "auto" and len(query.streams) > 2 and query.budget is None
    whole = query.late != "divert" and all(stream.dedup is None for stream in query.streams)
    return free and whole and query.on_error == "raise" and may_split(query)


def steered(plan: Plan, hands: Hands) -> Steered:
    """One engine with its controller."""
    engine = Engine(plan, hands.stopwatch, hands.block_rows, hands.store)
    return Steered(engine, plan.query, hands.meter)
