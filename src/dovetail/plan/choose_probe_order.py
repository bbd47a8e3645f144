"""The order in which an arrival probes the other streams (Viglas, Naughton, Burger: MJoin).

Streams tied to what is already bound come first. Among them, once something is known about the streams, the one with
the smallest expected number of matches: its selectivity times the tuples in its window. While nothing is known,
equality before band before similarity before any other condition; ties in query order.
"""

from collections.abc import Callable, Sequence

from dovetail.model.predicate import Band, Equality, Predicate, Similarity
from dovetail.model.statistics import Statistics
from dovetail.plan.estimate import selectivity
from dovetail.plan.in_time import met
from dovetail.plan.join_graph import applicable

_RANK = {Equality: 0, Band: 1, Similarity: 2}  # by how few tuples each usually leaves
_UNTIED = 9  # behind every kind of tie


def choose_probe_order(
    arriving: str, names: Sequence[str], predicates: Sequence[Predicate], known: Statistics | None = None
) -> tuple[str, ...]:
    """Names of the other streams in probing order."""

    def step(bound: frozenset[str], name: str) -> tuple[float, ...]:
        """What makes one stream a better next step than another; the smallest wins."""
        rank = _tie(predicates, bound, name)
        if known is None:
            return (rank, names.index(name))
        matches = selectivity(known, predicates, bound, name) * met(known, arriving, name, len(bound)).in_time
        return (rank == _UNTIED, matches, rank, names.index(name))

    return _ordered(arriving, names, step)


def _ordered(
    arriving: str, names: Sequence[str], step: Callable[[frozenset[str], str], tuple[float, ...]]
) -> tuple[str, ...]:
    bound = frozenset({arriving})
    order: list[str] = []
    while len(order) < len(names) - 1:
        left = [name for name in names if name not in bound]
        best = min(left, key=lambda name: step(bound, name))
        order.append(best)
        bound |= {best}
    return tuple(order)


def _tie(predicates: Sequence[Predicate], bound: frozenset[str], name: str) -> int:
    ranks = [_RANK.get(type(predicate), 3) for predicate in applicable(predicates, bound, name)]
    return min(ranks, default=_UNTIED)
