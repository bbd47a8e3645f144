"""One operator for all streams, or several: whichever costs less, and one unless several cost clearly less.

A tree costs what its operators cost, each with its own probes, and every intermediate result is made, moved, stored and
forgotten like a tuple of any stream. An intermediate result lives half as long as the windows of its members, on
average: that is what makes the trees' output rates equal to the single operator's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from dovetail.model.combinations import features_of, refusal
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.tree import Tree, left_deep, tree_text
from dovetail.model.window import TimeWindow
from dovetail.plan.choose_plan import choose_plan
from dovetail.plan.cost import Weights, cost
from dovetail.plan.physical import Plan
from dovetail.plan.report import predicted
from dovetail.plan.split_query import Operator, is_in_time, split_query

ONE = "one operator"
CLEARLY = 0.8  # several operators are chosen if they cost at most this share of one


@dataclass(frozen=True)
class OperatorPlan:
    """One operator of a tree: how it runs, and what is known about its streams."""

    plan: Plan
    known: Statistics


def split_operator(query: JoinQuery, known: Statistics, weights: Weights) -> tuple[Tree | None, dict[str, float]]:
    """The tree to run (None: one operator), and what every plan looked at would cost per second, by its text."""
    costs: dict[Tree | None, float] = {None: cost(choose_plan(query, known, weights), known, weights)}
    if len(query.streams) > 2 and may_split(query):
        for tree in dict.fromkeys(_trees(query.names)):
            costs[tree] = tree_cost(split_query(query, tree), known, weights)
    best = min(costs, key=lambda tree: costs[tree])
    by_text = {tree_text(tree) if tree else ONE: spent for tree, spent in costs.items()}
    return best if costs[best] <= CLEARLY * costs[None] else None, by_text


def may_split(query: JoinQuery) -> bool:
    """Whether several operators may stand for one."""
    return refusal(features_of(query, runs="deep tree")) is None


def _trees(names: tuple[str, ...]) -> Iterator[Tree]:
    """Every way to join some streams first and the rest with their result; and one stream after the other."""
    for size in range(2, len(names)):
        for first in combinations(names, size):
            yield (first, *(name for name in names if name not in first))
    yield left_deep(names)


def tree_cost(top: Operator, known: Statistics, weights: Weights) -> float:
    """Seconds per second of all operators of a tree."""
    return sum(cost(each.plan, each.known, weights) for each in operator_plans(top, known, weights))


def operator_plans(operator: Operator, known: Statistics, weights: Weights) -> list[OperatorPlan]:
    """How an operator and all below it would run, those below first.

    That members are all inside their windows costs a comparison that is not counted.
    """
    plans: list[OperatorPlan] = []
    streams = {name: known.streams[name] for name in operator.query.names if name in known.streams}
    keys = dict(known.keys)
    for name, below in operator.below.items():
        plans += operator_plans(below, known, weights)
        streams[name] = _intermediate(operator, name, plans[-1], weights)
        keys |= {f"{name}.{key}": count for key, count in known.keys.items()}
    here = Statistics(streams, keys, assumed=known.assumed)
    tied = tuple(predicate for predicate in operator.query.predicates if not is_in_time(predicate))
    plan = choose_plan(replace(operator.query, predicates=tied), here, weights)
    return [*plans, OperatorPlan(plan, here)]


def _intermediate(operator: Operator, name: str, below: OperatorPlan, weights: Weights) -> StreamStatistics:
    """The results of an operator as a stream: as many blocks as came in below."""
    window = operator.query.stream(name).window
    assert isinstance(window, TimeWindow)
    rate, lives_s = predicted(below.plan, below.known, weights)["output_rate"], window.length_us / 2e6
    arriving = sum(stream.rate / stream.block for stream in below.known.streams.values())
    block = max(1.0, rate / arriving) if arriving else 1.0
    return StreamStatistics(rate, rate * lives_s, block, window_s=lives_s)
