"""One operator for all streams, or several: whichever costs less.

A tree costs what its operators cost, each with its own probes, and every intermediate result is made, moved, stored and
forgotten like a tuple of any stream. An intermediate result lives half as long as the windows of its members, on
average: that is what makes the trees' output rates equal to the single operator's.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.window import TimeWindow
from dovetail.plan.choose_plan import choose_plan
from dovetail.plan.cost import Weights, cost
from dovetail.plan.report import predicted
from dovetail.plan.split_query import Operator, Tree, is_in_time, left_deep, split_query, tree_text, why_not_split


def split_operator(query: JoinQuery, known: Statistics, weights: Weights) -> tuple[Tree | None, dict[str, float]]:
    """The cheapest tree (None: one operator), and what every plan looked at would cost per second, by its text."""
    costs: dict[Tree | None, float] = {None: cost(choose_plan(query, known, weights), known, weights)}
    if len(query.streams) > 2 and why_not_split(query) is None:
        for tree in dict.fromkeys(_trees(query.names)):
            costs[tree] = tree_cost(split_query(query, tree), known, weights)
    best = min(costs, key=lambda tree: costs[tree])
    return best, {tree_text(tree) if tree else "one operator": spent for tree, spent in costs.items()}


def _trees(names: tuple[str, ...]) -> Iterator[Tree]:
    """Every way to join some streams first and the rest with their result; and one stream after the other."""
    for size in range(2, len(names)):
        for first in combinations(names, size):
            yield (first, *(name for name in names if name not in first))
    yield left_deep(names)


def tree_cost(top: Operator, known: Statistics, weights: Weights) -> float:
    """Seconds per second of all operators of a tree."""
    return _costs(top, known, weights)[0]


def _costs(operator: Operator, known: Statistics, weights: Weights) -> tuple[float, float]:
    """Cost of an operator with all below it, and its output rate."""
    total, streams, keys = 0.0, dict(known.streams), dict(known.keys)
    for name, below in operator.below.items():
        spent, rate = _costs(below, known, weights)
        total += spent
        window = operator.query.stream(name).window
        assert isinstance(window, TimeWindow)
        arriving = sum(known.streams[s].rate / known.streams[s].block for s in below.query.names if s in known.streams)
        block = max(1.0, rate / arriving) if arriving else 1.0
        lives_s = window.length_us / 2e6
        streams[name] = StreamStatistics(rate, rate * lives_s, block, window_s=lives_s)
        keys |= {f"{name}.{key}": count for key, count in known.keys.items()}
    here = replace(known, streams=streams, keys=keys, selectivities={}, fanouts={}, leads={})
    tied = tuple(predicate for predicate in operator.query.predicates if not is_in_time(predicate))
    plan = choose_plan(replace(operator.query, predicates=tied), here, weights)
    found = predicted(plan, here, weights)
    return total + found["cost"], found["output_rate"]
