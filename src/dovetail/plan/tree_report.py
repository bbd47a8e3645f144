"""A tree of operators as plain values: a report per operator, and the whole.

    report["plan"] == "((A, B), C)", report["parts"]["(A, B)"]["streams"]["A"]["algorithm"], report["predicted"]["cost"]

Costs add up; what comes out is what comes out at the top.
"""

from collections.abc import Sequence
from typing import Any

from dovetail.model.query import JoinQuery
from dovetail.model.tree import Tree, tree_text
from dovetail.plan.asof_report import asof_report
from dovetail.plan.assume import Given, assume
from dovetail.plan.choose_plan import choose_plan
from dovetail.plan.cost import Weights
from dovetail.plan.plan_query import plan_query
from dovetail.plan.report import budget_report, headroom, plan_report
from dovetail.plan.share_budget import budgeted_tree
from dovetail.plan.split_operator import OperatorPlan, operator_plans, split_operator
from dovetail.plan.split_query import Operator, asked_tree

BY_HAND, CHEAPEST = "set by hand", "cheapest"


def query_report(query: JoinQuery, weights: Weights, rates: Given = None, keys: Given = None) -> dict[str, Any]:
    """The plan of a query before any data has come: by rule if nothing is given, else by cost."""
    if query.answered is not None:
        return asof_report(query)
    known, by_rule, tree = assume(query, rates, keys), rates is None and keys is None, asked_tree(query)
    if tree is not None:
        top = budgeted_tree(query, tree, known, weights)
        report = tree_report(top, operator_plans(query, top, known, weights), weights, by_rule)
        return report | {"plan_why": BY_HAND, "budget": budget_report(query.budget)}
    if by_rule:
        return plan_report(plan_query(query), known, weights, by_rule)
    tree, costs = split_operator(query, known, weights)
    if tree is None or query.plan == "multiway":
        return plan_report(choose_plan(query, known, weights), known, weights) | {"splits": costs}
    top = budgeted_tree(query, tree, known, weights)
    report = tree_report(top, operator_plans(query, top, known, weights), weights)
    return report | {"plan_why": CHEAPEST, "splits": costs, "budget": budget_report(query.budget)}


def chosen_tree(query: JoinQuery, weights: Weights, rates: Given = None, keys: Given = None) -> Tree | None:
    """The tree that pays for such streams; None if one operator does."""
    return split_operator(query, assume(query, rates, keys), weights)[0]


def tree_report(
    top: Operator, plans: Sequence[OperatorPlan], weights: Weights, by_rule: bool = False
) -> dict[str, Any]:
    """Everything about a tree of operators, those below before those above."""
    parts = [plan_report(each.plan, each.known, weights, by_rule) for each in plans]
    last = parts[-1]
    return {
        **{name: last[name] for name in ("how", "order", "late", "aggregates", "weights")},
        "operators": len(parts),
        "plan": tree_text(top.tree),
        "streams": {name: part["streams"][name] for part in parts for name in part["streams"] if name in top.leaves},
        "probes": {name: part["probes"][name] for part in parts for name in part["probes"] if name in top.leaves},
        "parts": {tree_text(operator.tree): part for operator, part in zip(top.operators, parts, strict=True)},
        "predicted": _together(parts),
        "measured": _measured(parts),
        "assumed": list(dict.fromkeys(note for each in plans for note in each.known.assumed)),
    }


def _together(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    now = sum(part["predicted"]["cost"] for part in parts)
    return headroom(now) | {"output_rate": parts[-1]["predicted"]["output_rate"]}


def _measured(parts: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    found = [part["measured"] for part in parts]
    if not all(found):
        return None
    per_tuple = {name: costs for each in found for name, costs in each["per_tuple"].items()}
    return {
        "cost": sum(each["cost"] for each in found),
        "output_rate": found[-1]["output_rate"],
        "per_tuple": per_tuple,
    }
