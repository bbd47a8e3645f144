"""How a stream's window is stored, by rule while nothing is known about the streams:

    hash      equalities, also several of which one must hold; bands with two ends, by cells as wide as the band
    sorted    comparisons that are open on one side; an equality with a band of two ends, where one search finds what
              meets both, however few the keys are
    scan      everything else

Once rates and keys are known it goes by cost (see ``choose_plan``), among what ``possible_algorithms`` allows.
"""

import math
from collections.abc import Mapping, Sequence

from dovetail.errors import PlanError
from dovetail.model.algorithm import Algorithm
from dovetail.model.predicate import Alternatives, Band, Equality, Predicate, predicate_streams
from dovetail.model.query import JoinQuery

_NARROWEST = 1e-300  # one over it is still a number
_ROUNDING = 1e-14  # of the ends of a band: cells much narrower than what they are rounded by would be too many


def choose_algorithm(
    query: JoinQuery, name: str, predicates: Sequence[Predicate], costs: Mapping[Algorithm, float] | None = None
) -> Algorithm:
    """The algorithm asked for, if the predicates allow it, else the cheapest, else the one that they suggest."""
    possible = possible_algorithms(name, predicates)
    asked = asked_algorithm(query, name)
    if asked is None:
        return min(costs, key=lambda each: costs[each]) if costs else possible[0]
    if asked == "hash" and asked not in possible:
        raise PlanError(
            f"algorithm: stream {name!r} cannot be stored as 'hash': no equality and no band with two ends ties it to "
            "another stream. Try 'scan', or 'sorted' if a comparison does."
        )
    if asked not in possible:
        raise PlanError(
            f"algorithm: stream {name!r} cannot be stored as 'sorted': no equality or band predicate ties it to "
            "another stream. Try 'scan'."
        )
    return asked


def possible_algorithms(name: str, predicates: Sequence[Predicate]) -> tuple[Algorithm, ...]:
    """What the predicates allow, the one they suggest first."""
    own = [predicate for predicate in predicates if name in predicate_streams(predicate)]
    equal = {predicate_streams(predicate) for predicate in own if isinstance(predicate, Equality)}
    bands = [predicate for predicate in own if isinstance(predicate, Band)]
    closed = {predicate_streams(band) for band in bands if cell_width(band) is not None}
    if equal & closed:
        return "sorted", "hash", "scan"
    if equal or closed:
        return "hash", "scan", "sorted"
    if any(isinstance(predicate, Alternatives) for predicate in own):
        return ("hash", "scan", "sorted") if bands else ("hash", "scan")
    return ("sorted", "scan") if bands else ("scan",)


def asked_algorithm(query: JoinQuery, name: str) -> Algorithm | None:
    """What the query says by hand; None if it leaves the choice to the planner."""
    return None if query.algorithm == "auto" else query.algorithm.get(name)


def cell_width(band: Band) -> float | None:
    """How wide the cells are that a band hashes by: half of it; None if it is open, empty or a point.

    A band then reaches three cells, one and a half times its own width; with cells of its own width it would be two,
    and twice its width to walk along.
    """
    if band.low is None or band.high is None:
        return None
    whole = isinstance(band.low, int) and isinstance(band.high, int)
    width = float(band.high) - float(band.low) + whole
    if not _NARROWEST <= width < math.inf:
        return None
    return max(width / 2, _ROUNDING * max(abs(band.low), abs(band.high)))
