"""The places of a probe order: which are tied to those before, and how many matches to expect at another one.

The later a window is looked into, the more conditions its tuples have to meet. Those of equalities then hold already.
Values within e of one other value lie in a range of 2 e; within e of each of n that lie within e of each other, of
(1 + 1/n) e on average. So a window that was found to have f matches behind n conditions has f (1 + 1/k) / (1 + 1/n)
behind k. Example: all of A, B, C within a distance of each other; B was first and had 6 matches.

    >>> import pyarrow as pa
    >>> from dovetail.model.expression import Column
    >>> from dovetail.model.predicate import Band
    >>> x = {name: Column(name, "x", pa.float64()) for name in "ABC"}
    >>> near = [Band(x[one], x[other], -1, 1) for one, other in ("AB", "AC", "BC")]
    >>> places = Places("A", near)
    >>> places.factor("B", ("B", "C"), ("C", "B"))
    0.75
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.model.predicate import Equality, Predicate
from dovetail.plan.join_graph import applicable

Order = tuple[str, ...]


@dataclass(frozen=True)
class Places:
    """The orders of what one stream's arrivals look into."""

    arriving: str
    predicates: Sequence[Predicate]

    def tied(self, order: Order) -> bool:
        """Whether it looks into every window with a condition in hand, as long as there is any such window."""
        for place, name in enumerate(order):
            bound = frozenset({self.arriving, *order[:place]})
            if not self._is_tied(bound, name) and any(self._is_tied(bound, other) for other in order[place + 1 :]):
                return False
        return True

    def _is_tied(self, bound: frozenset[str], name: str) -> bool:
        return next(applicable(self.predicates, bound, name), None) is not None

    def factor(self, name: str, before: Order, after: Order) -> float:
        """How many times as many matches a window is expected to have in another order."""
        conditions, others = (self._conditions(name, order) for order in (before, after))
        return (1 + 1 / others) / (1 + 1 / conditions) if conditions and others else 1.0

    def _conditions(self, name: str, order: Order) -> int:
        bound = frozenset({self.arriving, *order[: order.index(name)]})
        return sum(not isinstance(each, Equality) for each in applicable(self.predicates, bound, name))
