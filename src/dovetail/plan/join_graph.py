"""Which streams are tied to which, and by what, once equalities are closed under transitivity.

    A.k = B.k AND B.k = C.k        adds A.k = C.k, so that C may follow A directly

The probe orders may then bind the streams in any order that keeps them tied.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from dovetail.model.expression import Expression, streams_of
from dovetail.model.predicate import Equality, Predicate, predicate_streams


def key_classes(predicates: Iterable[Predicate]) -> list[list[Expression]]:
    """Expressions that all equal each other in every result, in order of first mention."""
    classes: dict[int, list[Expression]] = {}
    of: dict[Expression, int] = {}
    for number, predicate in enumerate(predicates):
        if not isinstance(predicate, Equality):
            continue
        sides = (predicate.left, predicate.right)
        touched = sorted({of[side] for side in sides if side in of})  # a class is numbered by its last equality
        merged = dict.fromkeys([each for at in touched for each in classes.pop(at)] + list(sides))
        classes[number] = list(merged)
        of.update(dict.fromkeys(merged, number))
    return list(classes.values())


def close_equalities(predicates: Sequence[Predicate]) -> tuple[Predicate, ...]:
    """The predicates with every implied equality between two streams added once."""
    implied: list[Predicate] = [
        Equality(left, right)
        for group in key_classes(predicates)
        for left, right in combinations(group, 2)
        if streams_of(left) != streams_of(right)
    ]
    return tuple(implied + [predicate for predicate in predicates if not isinstance(predicate, Equality)])


def applicable(predicates: Iterable[Predicate], bound: frozenset[str], stream: str) -> Iterator[Predicate]:
    """The predicates that can be checked as soon as ``stream`` joins the streams already bound."""
    for predicate in predicates:
        streams = predicate_streams(predicate)
        if stream in streams and streams <= bound | {stream}:
            yield predicate
