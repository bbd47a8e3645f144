"""How the first k results of tables without windows come cheapest: what is read first, and the plan for that much.

Of shares of the tables come that many of all results: the product of the shares. So k of R results take

    an equal share of every table               (k / R) ** (1 / tables)     a ripple join: Haas and Hellerstein, 1999
    some tables whole, then equal shares        (k / R) ** (1 / others)     the small ones, which then meet every row

For each number of smallest tables to be read whole, the work until there are k results is predicted by the model of
costs that all plans are chosen by, with the structures, the orders and the tree that are best for so few rows.

    orders 200,000, customers 50, k = 100      alike: 4,472 orders and 1 customer      customers whole: 100 orders
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.tree import Tree, tree_text
from dovetail.plan.choose_plan import choose_plan
from dovetail.plan.cost import Weights, cost
from dovetail.plan.estimate import selectivity
from dovetail.plan.join_graph import close_equalities
from dovetail.plan.physical import LARGEST_BLOCK, Plan
from dovetail.plan.split_operator import split_operator


@dataclass(frozen=True)
class FirstResults:
    """Tables that are read whole before the others, rows of each until there are ``limit`` results, and the plan.

    ``tree``: the operators, if several cost clearly less than one; ``plan`` is that of one.
    """

    limit: int
    whole: tuple[str, ...]
    rows: Mapping[str, float]
    seconds: float
    plan: Plan
    known: Statistics
    tree: Tree | None = None


def choose_first(
    query: JoinQuery, counts: Mapping[str, int], keys: Mapping[str, float], limit: int, weights: Weights
) -> list[FirstResults]:
    """All ways that were looked at, the cheapest first; ``counts``: rows by table, ``keys``: distinct values by key."""
    names = sorted(query.names, key=lambda name: counts[name])
    share = min(1.0, limit / max(1.0, _results(query, counts, keys)))
    found = []
    for number in range(len(names)):
        part = share ** (1 / (len(names) - number))
        rows = {n: counts[n] if at < number else max(min(1, counts[n]), part * counts[n]) for at, n in enumerate(names)}
        found.append(_reckoned(query, names[:number], rows, keys, limit, weights))
    best, *others = sorted(found, key=lambda each: each.seconds)
    return [_in_parts(best, weights), *others]


def _results(query: JoinQuery, counts: Mapping[str, int], keys: Mapping[str, float]) -> float:
    """How many results all rows have."""
    predicates, known = close_equalities(query.predicates), _known(counts, counts, keys)
    bound = (frozenset(query.names[:at]) for at in range(1, len(query.names)))
    shares = (selectivity(known, predicates, each, name) for each, name in zip(bound, query.names[1:], strict=True))
    return prod(counts.values()) * prod(shares)


def _reckoned(
    query: JoinQuery,
    whole: Sequence[str],
    rows: Mapping[str, float],
    keys: Mapping[str, float],
    limit: int,
    weights: Weights,
) -> FirstResults:
    """The plan for so many rows of each table, and the seconds that they take; what is whole meets nothing yet."""
    held = {name: rows[name] if name in whole else rows[name] / 2 for name in rows}  # half of them, on average
    before = _known({name: rows[name] if name in whole else 0.0 for name in rows}, dict.fromkeys(rows, 0.0), keys)
    after = _known({name: 0.0 if name in whole else rows[name] for name in rows}, held, keys)
    plan = choose_plan(query, after, weights)
    seconds = cost(plan, before, weights) + cost(plan, after, weights)
    return FirstResults(limit, tuple(whole), rows, seconds, plan, _known(rows, held, keys))


def _in_parts(first: FirstResults, weights: Weights) -> FirstResults:
    """The same with several operators, if the choice is free and they cost clearly less for so many rows."""
    tree, costs = split_operator(first.plan.query, first.known, weights)
    if tree is None or first.plan.query.plan != "auto":
        return first
    return replace(first, tree=tree, seconds=costs[tree_text(tree)])


def _known(come: Mapping[str, float], held: Mapping[str, float], keys: Mapping[str, float]) -> Statistics:
    """Rows that come, as those of one second, into tables that hold some."""
    streams = {
        name: StreamStatistics(count, held[name], min(max(count, 1.0), LARGEST_BLOCK)) for name, count in come.items()
    }
    return Statistics(streams, keys)


def as_query(first: FirstResults) -> JoinQuery:
    """The query with the tree that was chosen, or as one operator; one set by hand stays."""
    query = first.plan.query
    return replace(query, plan=first.tree or "multiway") if query.plan == "auto" else query
