"""The order in which an arrival probes the other streams.

Streams tied to what is already bound come first; among them equality before band before similarity
before any other condition; ties in query order.
"""

from collections.abc import Sequence

from dovetail.model.predicate import Band, Equality, Predicate, Similarity
from dovetail.plan.join_graph import applicable

_RANK = {Equality: 0, Band: 1, Similarity: 2}
_UNTIED = 9


def choose_probe_order(arriving: str, names: Sequence[str], predicates: Sequence[Predicate]) -> tuple[str, ...]:
    """Names of the other streams in probing order."""
    bound = frozenset({arriving})
    order: list[str] = []
    while len(order) < len(names) - 1:
        left = [name for name in names if name not in bound]
        best = min(left, key=lambda name: (_tie(predicates, bound, name), names.index(name)))
        order.append(best)
        bound |= {best}
    return tuple(order)


def _tie(predicates: Sequence[Predicate], bound: frozenset[str], name: str) -> int:
    ranks = [_RANK.get(type(predicate), 3) for predicate in applicable(predicates, bound, name)]
    return min(ranks, default=_UNTIED)
