"""One operator for all streams, or several: whichever costs less, and one unless several cost clearly less.

A tree costs what its operators cost, each with its own probes, and every intermediate result is made, moved, stored and
forgotten like a tuple of any stream. An intermediate result lives half as long as the windows of its members, on
average: that is what makes the trees' output rates equal to the single operator's.

How many results a set of streams is predicted to give does not depend on the tree that makes them. So the best tree of
a set is an operator over parts of it, each a stream or the best tree of fewer streams (dynamic programming over
connected sets). Of all ways to cut a set those that look best at a rough glance are reckoned first, and no more than
``_FEW`` of sets in queries of more than ``_ALL_CUTS`` streams. Above ``_MOST`` streams parts are put together greedily,
two at a time, as long as that pays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf

from dovetail.model.combinations import features_of, refusal
from dovetail.model.predicate import predicate_streams
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.tree import Tree, leaves, tree_text
from dovetail.plan.choose_plan import choose_plan
from dovetail.plan.choose_probe_order import choose_probe_order
from dovetail.plan.cost import Weights, cost
from dovetail.plan.estimate import output_rate
from dovetail.plan.join_graph import close_equalities
from dovetail.plan.physical import Plan
from dovetail.plan.rough_cost import RoughCost
from dovetail.plan.split_query import Operator, is_in_time, operator_over, split_query

ONE = "one operator"
CLEARLY = 0.8  # several operators are chosen if they cost at most this share of one
_MOST = 8  # streams up to which every connected set is looked at
_ALL_CUTS = 6  # streams of a query up to which every way to cut a set is reckoned
_FEW = 12  # ways that are reckoned in larger queries, whose sets have very many


@dataclass(frozen=True)
class OperatorPlan:
    """One operator of a tree: how it runs, and what is known about its streams."""

    plan: Plan
    known: Statistics


@dataclass(frozen=True)
class Best:
    """The cheapest tree of some streams, and what it costs per second."""

    tree: Tree
    cost: float


def split_operator(query: JoinQuery, known: Statistics, weights: Weights) -> tuple[Tree | None, dict[str, float]]:
    """The tree to run (None: one operator), and what the plans looked at would cost per second, by their text."""
    costs = _costs(query, known, weights)
    best = min(costs, key=lambda tree: costs[tree])
    by_text = {tree_text(tree) if tree else ONE: spent for tree, spent in costs.items()}
    return best if costs[best] <= CLEARLY * costs[None] else None, by_text


def best_tree(query: JoinQuery, known: Statistics, weights: Weights) -> tuple[Tree | None, float]:
    """The cheapest shape, however little cheaper, and what it costs."""
    costs = _costs(query, known, weights)
    return min(costs.items(), key=lambda each: each[1])


def shape_cost(query: JoinQuery, tree: Tree | None, known: Statistics, weights: Weights) -> float:
    """What a shape costs per second."""
    if tree is None:
        return cost(choose_plan(query, known, weights), known, weights)
    plans = operator_plans(query, split_query(query, tree), known, weights)
    return sum(cost(each.plan, each.known, weights) for each in plans)


def _costs(query: JoinQuery, known: Statistics, weights: Weights) -> dict[Tree | None, float]:
    costs: dict[Tree | None, float] = {None: shape_cost(query, None, known, weights)}
    if len(query.streams) < 3 or not may_split(query):
        return costs
    search = _Search(query, known, weights)
    found = search.every_set() if len(query.streams) <= _MOST else search.greedily()
    return costs | {each.tree: each.cost for each in found if not _is_flat(each.tree)}


def may_split(query: JoinQuery) -> bool:
    """Whether several operators may stand for one."""
    return refusal(features_of(query, runs="deep tree")) is None


def _is_flat(tree: Tree) -> bool:
    return all(isinstance(part, str) for part in tree)


class _Search:
    """The best trees of sets of streams; a set is a number, see ``RoughCost``."""

    def __init__(self, query: JoinQuery, known: Statistics, weights: Weights) -> None:
        self._query = replace(query, predicates=close_equalities(query.predicates))
        self._known, self._weights = known, weights
        self._rough = RoughCost(query, self._query.predicates, known)
        self._best: dict[int, Best] = {1 << at: Best(name, 0.0) for at, name in enumerate(query.names)}
        self._results: dict[int, StreamStatistics] = {}

    def every_set(self) -> list[Best]:
        """The trees of all streams that were looked at closely."""
        whole = (1 << len(self._query.names)) - 1
        sets = [mask for mask in range(1, whole) if mask.bit_count() > 1 and self._rough.connected(mask)]
        for mask in sorted(sets, key=int.bit_count):
            self._best[mask] = min(self._ways(mask), key=lambda each: each.cost)
        return list(self._ways(whole))

    def _ways(self, mask: int) -> Iterator[Best]:
        """Trees over the best trees of parts: all streams side by side, and those that look cheapest."""
        side_by_side = tuple(1 << at for at in range(len(self._query.names)) if mask >> at & 1)
        looked_at = None if len(self._query.names) <= _ALL_CUTS else _FEW
        least = inf
        for parts in dict.fromkeys([side_by_side, *sorted(self._cuts(mask), key=self._roughly)[:looked_at]]):
            if sum(self._best[part].cost for part in parts) < least:
                found = self._over(parts)
                least = min(least, found.cost)
                yield found

    def _cuts(self, mask: int) -> Iterator[tuple[int, ...]]:
        """Every way to cut a set into two parts or more that have a best tree; the first part has its first stream."""
        first, rest = mask & -mask, mask ^ (mask & -mask)
        some = rest
        while True:  # every subset of the rest, the largest first
            part, others = first | some, rest ^ some
            if part != mask and part in self._best:
                if others in self._best:
                    yield part, others
                for parts in self._cuts(others) if others & (others - 1) else ():
                    yield part, *parts
            if not some:
                return
            some = (some - 1) & rest

    def _roughly(self, parts: Sequence[int]) -> float:
        return self._rough.of(parts) + sum(self._best[part].cost for part in parts)

    def _over(self, parts: Sequence[int]) -> Best:
        """An operator over the best trees of these parts."""
        return self.over([self._best[part] for part in parts])

    def over(self, trees: Sequence[Best]) -> Best:
        """An operator over these trees."""
        tree = tuple(each.tree for each in trees)
        operator = operator_over(self._query, tree, len(leaves(tree)) == len(self._query.names))
        below = {tree_text(part): self._made_by(leaves(part)) for part in tree if not isinstance(part, str)}
        plan = _planned(operator, below, self._known, self._weights)
        return Best(tree, cost(plan.plan, plan.known, self._weights) + sum(each.cost for each in trees))

    def _made_by(self, streams: Sequence[str]) -> StreamStatistics:
        mask = self._rough.mask(streams)
        if mask not in self._results:
            self._results[mask] = results_of(self._query, streams, self._known)
        return self._results[mask]

    def greedily(self) -> list[Best]:
        """Two parts after the other become one operator, the pair that saves most first; all trees on the way."""
        parts = tuple(1 << at for at in range(len(self._query.names)))
        found = [self._over(parts)]
        while len(parts) > 2:
            pairs = [pair for pair in combinations(parts, 2) if self._rough.connected(sum(pair))]
            for pair in pairs:
                self._best.setdefault(sum(pair), min(self._together(pair), key=lambda each: each.cost))
            ways = sorted((_joined(parts, pair) for pair in pairs), key=self._roughly)[:_FEW]
            trees = [(self._over(way), way) for way in ways]
            best, cut = min(trees, key=lambda each: each[0].cost, default=(found[-1], parts))
            if best.cost >= found[-1].cost:
                break
            found.append(best)
            parts = cut
        return found

    def _together(self, pair: tuple[int, int]) -> Iterator[Best]:
        """Two trees as one: under a new operator, or all their streams in one."""
        yield self._over(pair)
        if sum(pair).bit_count() > 2:
            yield self._over([1 << at for at in range(len(self._query.names)) if sum(pair) >> at & 1])


def _joined(parts: Sequence[int], pair: tuple[int, int]) -> tuple[int, ...]:
    return (*(part for part in parts if part not in pair), sum(pair))


def operator_plans(query: JoinQuery, operator: Operator, known: Statistics, weights: Weights) -> list[OperatorPlan]:
    """How an operator of a query's tree and all below it would run, those below first."""
    plans = [plan for below in operator.below.values() for plan in operator_plans(query, below, known, weights)]
    results = {name: results_of(query, below.leaves, known) for name, below in operator.below.items()}
    return [*plans, _planned(operator.query, results, known, weights)]


def _planned(
    query: JoinQuery, below: Mapping[str, StreamStatistics], known: Statistics, weights: Weights
) -> OperatorPlan:
    """How one operator would run over streams and the results of others.

    That members are all inside their windows costs a comparison that is not counted.
    """
    streams = {name: known.streams[name] for name in query.names if name in known.streams}
    keys = dict(known.keys)
    for name, results in below.items():
        streams[name] = results
        keys |= {f"{name}.{key}": count for key, count in known.keys.items()}
    shares = {tie: share for tie, share in known.selectivities.items() if {*tie[0], tie[1]} <= set(query.names)}
    here = Statistics(streams, keys, shares, assumed=known.assumed)
    tied = tuple(predicate for predicate in query.predicates if not is_in_time(predicate))
    return OperatorPlan(choose_plan(replace(query, predicates=tied), here, weights), here)


def results_of(query: JoinQuery, streams: Sequence[str], known: Statistics) -> StreamStatistics:
    """The results of a join of some of a query's streams as a stream: as many blocks as come in."""
    names = tuple(name for name in query.names if name in streams)
    predicates = [each for each in close_equalities(query.predicates) if predicate_streams(each) <= set(names)]
    own = [known.streams[name] for name in names]
    rate = output_rate(known, predicates, {name: choose_probe_order(name, names, predicates, known) for name in names})
    lives_s = max(stream.span_s for stream in own) / 2
    arriving = sum(stream.rate / stream.block for stream in own)
    block = max(1.0, rate / arriving) if arriving else 1.0
    return StreamStatistics(rate, rate * lives_s, block, window_s=lives_s)
