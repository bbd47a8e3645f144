"""The budget of a query, shared out to the operators of its tree: CPU by what each would cost, memory by what it holds.

    ((A, B), C), memory for 1,000 tuples, 10 times as many pairs as tuples      (A, B) 333, top 667

Half of it goes in equal parts. The model knows little before data has come, and an operator without memory or time
would hold up those above it, whose results are all there is.
"""

from collections.abc import Iterator
from dataclasses import replace

from dovetail.model.budget import Budget
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.model.tree import Tree
from dovetail.plan.assume import assume
from dovetail.plan.calibrate import load_weights
from dovetail.plan.cost import Weights, cost
from dovetail.plan.split_operator import OperatorPlan, operator_plans
from dovetail.plan.split_query import Operator, split_query

_EQUAL = 0.5  # of the budget that is shared out in equal parts, whatever the model says


def budgeted_tree(
    query: JoinQuery, tree: Tree, known: Statistics | None = None, weights: Weights | None = None
) -> Operator:
    """The operators of a tree, each with its part of the query's budget."""
    top = split_query(query, tree)
    if query.budget is None:
        return top
    used = weights or load_weights()
    plans = operator_plans(query, top, known or assume(query), used)
    cpu = _shares([cost(each.plan, each.known, used) for each in plans])
    memory = _shares([_held(each) for each in plans])
    parts = [query.budget.part(*own, len(plans)) for own in zip(cpu, memory, strict=True)]
    return _with_budgets(top, iter(parts))


def _held(operator: OperatorPlan) -> float:
    """The tuples in its windows."""
    return sum(stream.tuples for stream in operator.known.streams.values())


def _shares(needs: list[float]) -> list[float]:
    together = sum(needs)
    return [_EQUAL / len(needs) + (1 - _EQUAL) * (need / together if together else 1 / len(needs)) for need in needs]


def _with_budgets(operator: Operator, parts: Iterator[Budget]) -> Operator:
    """Those below come first, as in ``Operator.operators``."""
    below = {name: _with_budgets(each, parts) for name, each in operator.below.items()}
    return replace(operator, query=replace(operator.query, budget=next(parts)), below=below)
