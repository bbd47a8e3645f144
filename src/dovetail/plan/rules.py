"""The rules of the planner, in their order: each decides one thing, knowing what those before it decided.

The first plan of a query and every plan that follows while it runs are made by the same rules: first by the predicates
alone, later by what is known about the streams, and by what each way to store a window would cost.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail.model.algorithm import Algorithm
from dovetail.model.predicate import Predicate
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.plan.choose_algorithm import choose_algorithm
from dovetail.plan.choose_invalidation import choose_lazy
from dovetail.plan.choose_probe_order import choose_probe_order

Orders = Mapping[str, Sequence[str]]
WindowCosts = Callable[[Orders, str, Statistics], Mapping[Algorithm, float]]


@dataclass(frozen=True)
class Draft:
    """A plan in the making; ``predicates`` with the equalities that follow from others. What it has is not decided."""

    query: JoinQuery
    predicates: Sequence[Predicate]
    known: Statistics | None = None
    costs: WindowCosts | None = None
    orders: Orders = field(default_factory=dict)
    algorithms: Mapping[str, Algorithm] = field(default_factory=dict)
    lazy: Collection[str] | None = None


def probe_orders(draft: Draft) -> Draft:
    """In which order an arrival of each stream probes the others."""
    names = draft.query.names
    missing = [name for name in names if name not in draft.orders]
    chosen = {name: choose_probe_order(name, names, draft.predicates, draft.known) for name in missing}
    return replace(draft, orders={**draft.orders, **chosen})


def structures(draft: Draft) -> Draft:
    """How each window is stored. Given the probe orders, this changes nothing for another window."""
    costs = {
        name: draft.costs(draft.orders, name, draft.known) if draft.costs and draft.known else None
        for name in draft.query.names
        if name not in draft.algorithms
    }
    chosen = {name: choose_algorithm(draft.query, name, draft.predicates, costs[name]) for name in costs}
    return replace(draft, algorithms={**draft.algorithms, **chosen})


def invalidation(draft: Draft) -> Draft:
    """Which windows forget lazily."""
    return draft if draft.lazy is not None else replace(draft, lazy=choose_lazy(draft.query, draft.known))


RULES: tuple[Callable[[Draft], Draft], ...] = (probe_orders, structures, invalidation)


def decide(draft: Draft) -> Draft:
    """What all rules together decide."""
    for rule in RULES:
        draft = rule(draft)
    return draft
