"""The search for trees of operators: bushy ones of many-way operators too, and the best of all there are."""

from functools import cache
from itertools import pairwise, product
from math import inf

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.plan.assume import assume
from dovetail.plan.cost import Weights
from dovetail.plan.split_operator import ONE, Best, _Search, best_tree, shape_cost, split_operator

SCHEMA = pa.schema({"ts": pa.timestamp("us"), **{f"k{at}": pa.int64() for at in range(8)}})


def join(names: list[str], on: str, seconds: dict[str, float] | None = None) -> JoinQuery:
    windows = seconds or dict.fromkeys(names, 10.0)
    streams = [dv.stream(name, time="ts", window=f"{windows[name]} seconds", schema=SCHEMA) for name in names]
    return dv.join(*streams, on=on, select=f"{names[0]}.k0 AS a, {names[-1]}.k1 AS b").model


def random_case(seed: int, most: int) -> tuple[JoinQuery, Statistics]:
    """Three to ``most`` streams of very different rates, windows and keys, tied as a random tree with more ties."""
    random = np.random.default_rng(seed)
    names = [f"S{at}" for at in range(1, int(random.integers(3, most + 1)) + 1)]
    edges = [(int(random.integers(0, at)), at) for at in range(1, len(names))]
    one_key = random.random() < 0.3
    ties = [f"{names[a]}.k{0 if one_key else a} = {names[b]}.k{0 if one_key else a}" for a, b in edges]
    windows = {name: float(random.choice([1, 5, 20])) for name in names}
    query = join(names, " AND ".join(ties), windows)
    rates = {name: float(10 ** random.uniform(0.5, 4)) for name in names}
    keys = {f"{name}.k{at}": float(10 ** random.uniform(1, 6)) for name in names for at in range(8)}
    used = {text.split(" = ")[side] for text in ties for side in (0, 1)}
    return query, assume(query, rates, {key: count for key, count in keys.items() if key in used})


class Exhaustive(_Search):
    """Every tree there is, connected or not, that could cost less than ``found``; each part is reckoned once.

    Costs add up, so a part that costs as much by itself is in no such tree.
    """

    found = inf

    def best(self) -> float:
        whole = (1 << len(self._query.names)) - 1
        return min((each.cost for each in self.trees(whole)), default=inf)

    @cache  # noqa: B019  # one search per case
    def trees(self, mask: int) -> tuple[Best, ...]:
        if not mask & (mask - 1):
            return (self._best[mask],)
        ways = (some for parts in cuts(mask) for some in product(*(self.trees(part) for part in parts)))
        possible = (some for some in ways if sum(best.cost for best in some) < self.found)
        return tuple(made for some in possible if (made := self.over(some)).cost < self.found)


def cuts(mask: int) -> list[tuple[int, ...]]:
    """Every way to cut a set into two parts or more."""
    first, rest, found = mask & -mask, mask ^ (mask & -mask), list[tuple[int, ...]]()
    some = rest
    while True:
        others = rest ^ some
        if others:
            found += [(first | some, others), *((first | some, *more) for more in cuts(others))]
        if not some:
            return found
        some = (some - 1) & rest


def share_found(cases: list[tuple[JoinQuery, Statistics]]) -> float:
    found = 0
    for query, known in cases:
        tree, least = best_tree(query, known, Weights())
        assert least == pytest.approx(shape_cost(query, tree, known, Weights()), rel=1e-4)  # but for columns carried
        every = Exhaustive(query, known, Weights())
        every.found = least * (1 - 1e-9)
        found += every.found <= min(shape_cost(query, None, known, Weights()), every.best())
    return found / len(cases)


def test_the_best_of_all_trees_of_up_to_four_streams() -> None:
    assert share_found([random_case(seed, most=4) for seed in range(20)]) >= 0.95


@pytest.mark.slow
def test_the_best_of_all_trees_of_up_to_six_streams() -> None:
    assert share_found([random_case(seed, most=6) for seed in range(200)]) >= 0.95


def two_stars(rates: dict[str, float], values: float, between: float) -> tuple[JoinQuery, Statistics]:
    """MJoin's six streams: two triples on a key of so many values each, tied by another attribute."""
    names = [f"S{at}" for at in range(1, 7)]
    on = "S1.k0 = S2.k0 AND S1.k0 = S3.k0 AND S4.k1 = S5.k1 AND S4.k1 = S6.k1 AND S2.k2 = S5.k2"
    query = join(names, on)
    keys = {f"{name}.k0": values for name in names[:3]} | {f"{name}.k1": values for name in names[3:]}
    fast = dict.fromkeys(names, 1000.0) | rates
    return query, assume(query, rates=fast, keys=keys | {"S2.k2": between, "S5.k2": between})


def test_the_bushy_plan_of_the_paper_is_chosen_where_most_triples_meet() -> None:
    query, known = two_stars({}, values=1e4, between=10)
    tree, costs = split_operator(query, known, Weights())
    assert tree == (("S1", "S2", "S3"), ("S4", "S5", "S6"))
    assert costs["((S1, S2, S3), (S4, S5, S6))"] < 0.5 * costs[ONE]


def test_the_winner_of_figure_17_is_chosen_where_four_streams_are_slow() -> None:
    """Pairs of slow streams are few; the fast ones then meet those of the pairs that have met."""
    slow = dict.fromkeys(["S1", "S2", "S4", "S5"], 10.0)
    query, known = two_stars(slow, values=1e3, between=10)
    tree, costs = split_operator(query, known, Weights())
    assert tree == ((("S1", "S2"), ("S4", "S5")), "S3", "S6")
    assert costs["(((S1, S2), (S4, S5)), S3, S6)"] < 0.6 * costs[ONE]


def test_nine_streams_are_split_greedily() -> None:
    names = [f"S{at}" for at in range(1, 10)]
    ties = (f"{a}.k{at % 2} = {b}.k{at % 2}" for at, (a, b) in enumerate(pairwise(names)))
    query = join(names, " AND ".join(ties))
    known = assume(query, rates=1000, keys={**dict.fromkeys(names, 20.0), "S1.k0": 1e7, "S2.k0": 1e7})
    _, costs = split_operator(query, known, Weights())
    assert min(costs, key=lambda text: costs[text]) != ONE
