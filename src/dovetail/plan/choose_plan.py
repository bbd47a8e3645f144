"""The cheapest plan of one multi-way operator for what is known about its streams.

Probe orders come first: smallest expected matches first. Given these, how one window is stored changes nothing for
another, so each stream's structure is chosen for itself: the one whose insertions and probes cost least together.
"""

from collections.abc import Collection, Mapping

from dovetail.model.algorithm import Algorithm
from dovetail.model.decision import Decision
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.plan.choose_algorithm import asked_algorithm, possible_algorithms
from dovetail.plan.cost import Steps, Weights, steps_of, window_work
from dovetail.plan.join_graph import close_equalities
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.rules import Draft, Orders, decide


class Planner:
    """Plans one query again and again, as more becomes known; plans it has made before are kept."""

    def __init__(self, query: JoinQuery, weights: Weights) -> None:
        self.query = query
        self.weights = weights
        self._predicates = close_equalities(query.predicates)
        self._possible = {name: possible_algorithms(name, self._predicates) for name in query.names}
        self._made: dict[object, Plan] = {}
        self._last: tuple[object, object, Steps] = None, None, {}

    def choose(self, known: Statistics) -> Plan:
        """What the rules decide by predicted cost; what the query sets by hand stays."""
        decided = decide(Draft(self.query, self._predicates, known, self.window_costs))
        return self.plan(decided.orders, decided.algorithms, decided.lazy or ())

    def window_costs(self, orders: Orders, name: str, known: Statistics) -> dict[Algorithm, float]:
        """What storing one stream and probing its window costs per second, in each possible way."""
        uniform = {algorithm: self._uniform(orders, algorithm) for algorithm in self._possible[name]}
        steps = self._steps(orders, known, next(iter(uniform.values())))
        return {each: self.weights.cost(window_work(plan, name, known, steps)) for each, plan in uniform.items()}

    def _steps(self, orders: Orders, known: Statistics, plan: Plan) -> Steps:
        """Those of the last call, if it was about the same."""
        before, about, found = self._last
        if before is not orders or about is not known:
            found = steps_of(plan, known)
            self._last = orders, known, found
        return found

    def _uniform(self, orders: Orders, algorithm: Algorithm) -> Plan:
        """Every stream stored in the same way, where it can be."""
        return self.plan(orders, {name: algorithm for name, some in self._possible.items() if algorithm in some})

    def plan(self, orders: Orders, algorithms: Mapping[str, Algorithm], lazy: Collection[str] = ()) -> Plan:
        """The plan with these orders and structures, and windows that forget lazily."""
        key = tuple(orders.items()), tuple(algorithms.items()), tuple(lazy)
        if key not in self._made:
            self._made[key] = plan_query(self.query, orders, algorithms, lazy)
        return self._made[key]


def choose_plan(query: JoinQuery, known: Statistics, weights: Weights) -> Plan:
    """The plan for what is known."""
    return Planner(query, weights).choose(known)


def decision_of(plan: Plan, version: int = 0) -> Decision:
    """What of a plan may change while it runs."""
    orders = {name: tuple(level.stream for level in levels) for name, levels in plan.probes.items()}
    lazy = tuple(name for name, storage in plan.storage.items() if storage.lazy)
    return Decision({name: storage.algorithm for name, storage in plan.storage.items()}, orders, lazy, version)


def plan_of(query: JoinQuery, decision: Decision) -> Plan:
    """The plan that a decision stands for; what the query sets by hand counts before it."""
    asked = {name: algorithm for name in query.names if (algorithm := asked_algorithm(query, name))}
    return plan_query(query, decision.orders, {**decision.algorithms, **asked}, decision.lazy)
