"""The probe orders while slices are left out: the one in which the same work gives the most results.

Fewest matches first is best when windows are looked through whole. With slices it also counts how well they tell
matches apart: of two windows with as many matches, the one whose matches all lie in one slice belongs last, where most
partial results arrive. Example: B's matches lie in one slice of ten, C's anywhere.

    >>> sharp = Step(fanout=8.0, costs=(0.0, 10.0, 100.0), yields=(0.0, 1.0, 1.0))
    >>> blunt = Step(fanout=8.0, costs=(0.0, 10.0, 100.0), yields=(0.0, 0.1, 1.0))
    >>> best_order({"B": sharp, "C": blunt}, ("B", "C"), rate=1.0, budget=200.0, tied=lambda order: True)
    ('C', 'B')

How many matches a window has is taken to be the same at every place of the order; it is learned anew afterwards. An
order that is in use gives way only to one that is better by a tenth.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, permutations

from dovetail.control.harvest_model import Direction, Step
from dovetail.control.solve_greedy import solve_forwards
from dovetail.model.predicate import Predicate
from dovetail.plan.join_graph import applicable

_BETTER = 1.1
_ALL = 3
_ROUNDS = 4

Order = tuple[str, ...]


def best_order(
    steps: Mapping[str, Step], order: Order, rate: float, budget: float, tied: Callable[[Order], bool]
) -> Order:
    """The order of the windows that gives most for this cost per second; only ``tied`` ones count."""

    def output(each: Order) -> float:
        direction = Direction(rate, tuple(steps[name] for name in each))
        return direction.value(solve_forwards([direction], budget)[0])[0]

    best, most = order, _BETTER * output(order)
    for _ in range(1 if len(order) <= _ALL else _ROUNDS):
        tried = {each: output(each) for each in _others(best) if tied(each)}
        found = max(tried, key=lambda each: tried[each], default=best)
        if tried.get(found, 0.0) <= most:
            break
        best, most = found, tried[found]
    return best


def keeps_tied(arriving: str, predicates: Sequence[Predicate]) -> Callable[[Order], bool]:
    """Whether an order looks into every window with a condition in hand, as long as there is any such window."""

    def is_tied(bound: frozenset[str], name: str) -> bool:
        return next(applicable(predicates, bound, name), None) is not None

    def tied(order: Order) -> bool:
        bound = frozenset({arriving})
        for place, name in enumerate(order):
            if not is_tied(bound, name) and any(is_tied(bound, other) for other in order[place + 1 :]):
                return False
            bound |= {name}
        return True

    return tied


def _others(order: Order) -> Iterator[Order]:
    """All orders of a few streams; of many, those with two exchanged."""
    if len(order) <= _ALL:
        yield from (each for each in permutations(order) if each != order)
        return
    for one, other in combinations(range(len(order)), 2):
        swapped = list(order)
        swapped[one], swapped[other] = order[other], order[one]
        yield tuple(swapped)
