"""How many tuples match, from what is known about the streams.

    matches of a probe = selectivity * tuples in the window probed that are in time (see ``in_time``)
    results per second = for each arriving stream: its rate * the matches along its probe order, multiplied up

A measured selectivity counts before a reckoned one. An equality is reckoned as one over the larger number of distinct
keys; several equalities on the same column (``A.k = C.k`` and ``B.k = C.k``) narrow it down once, on different columns
each for itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Alternatives, Band, Equality, Predicate, Similarity, predicate_streams
from dovetail.model.statistics import Statistics
from dovetail.plan.in_time import Met, met
from dovetail.plan.join_graph import applicable
from dovetail.plan.physical import Key, KeyAccess, Level, key_text

ASSUMED_KEYS = 1000.0  # until keys are counted; said in explain()
# as for a thousandth to a tenth: the middle of what people ask for
_ASSUMED: Mapping[type, float] = {Band: 0.01, Similarity: 0.01}
_ASSUMED_OTHERWISE = 1 / 3  # the customary guess for an inequality


def selectivity(known: Statistics, predicates: Sequence[Predicate], bound: frozenset[str], name: str) -> float:
    """The share of a window's tuples that match a combination of the bound streams."""
    usable = list(applicable(predicates, bound, name))
    ties = frozenset(stream for predicate in usable for stream in predicate_streams(predicate)) - {name}
    measured = known.selectivities.get((ties, name))
    if measured is not None:
        return measured
    by_column: dict[object, float] = {}
    for predicate in usable:
        column = _own_side(predicate, name) if isinstance(predicate, Equality) else predicate
        by_column[column] = min(by_column.get(column, 1.0), of_predicate(known, predicate, name))
    return prod(by_column.values())


def of_predicate(known: Statistics, predicate: Predicate, name: str) -> float:
    """The share of a window's tuples that a predicate alone leaves."""
    (other,) = others if len(others := predicate_streams(predicate) - {name}) == 1 else (None,)
    if other is not None:
        for tie in ((frozenset({other}), name), (frozenset({name}), other)):
            if tie in known.selectivities:
                return known.selectivities[tie]
    if isinstance(predicate, Equality):
        return 1 / max(key_count(known, predicate.left), key_count(known, predicate.right), 1.0)
    if isinstance(predicate, Alternatives):
        return min(1.0, sum(_of_branch(known, branch) for branch in predicate.branches))
    return _ASSUMED.get(type(predicate), _ASSUMED_OTHERWISE)


def _of_branch(known: Statistics, branch: Sequence[Equality]) -> float:
    return prod(1 / max(key_count(known, each.left), key_count(known, each.right), 1.0) for each in branch)


def key_selectivity(known: Statistics, level: Level, access: KeyAccess) -> float:
    """The share of a window's tuples with the key that is looked for, whatever else must hold."""
    measured = known.alike.get(level.tie)
    if measured is not None:
        return measured
    return 1 / max(_values_of(known, access.own.expressions), _values_of(known, access.bound), 1.0)


def _values_of(known: Statistics, key: tuple[Expression, ...]) -> float:
    counted = known.keys.get(key_text(Key(key)))
    return prod(key_count(known, part) for part in key) if counted is None else counted


def key_count(known: Statistics, key: Expression) -> float:
    """Distinct values of a key."""
    return known.keys.get(str(key), ASSUMED_KEYS)


def _own_side(equality: Equality, name: str) -> Expression:
    return equality.left if streams_of(equality.left) == {name} else equality.right


@dataclass(frozen=True)
class LevelEstimate:
    """One step of a probe: how many combinations one arrival has become before it and after it, and how."""

    looks: float
    found: float
    selectivity: float
    met: Met


def steps_along(
    known: Statistics, predicates: Sequence[Predicate], arriving: str, order: Sequence[str]
) -> list[LevelEstimate]:
    """All steps of a probe in this order."""
    bound, combinations, steps = frozenset({arriving}), 1.0, []
    for name in order:
        share, window = selectivity(known, predicates, bound, name), met(known, arriving, name, len(bound))
        steps.append(LevelEstimate(combinations, combinations * share * window.in_time, share, window))
        combinations, bound = steps[-1].found, bound | {name}
    return steps


def output_rate(known: Statistics, predicates: Sequence[Predicate], orders: Mapping[str, Sequence[str]]) -> float:
    """Results per second: ``prod s * prod rate * sum_i prod_(j != i) window_j``, if each pair has one selectivity."""
    return sum(
        known.streams[name].rate * steps_along(known, predicates, name, order)[-1].found
        for name, order in orders.items()
    )
