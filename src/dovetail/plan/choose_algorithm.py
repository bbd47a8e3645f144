"""How a stream's window is stored.

hash      equalities; bands with two ends, by cells as wide as the band
sorted    comparisons that are open on one side
scan      everything else
"""

import math
from collections.abc import Sequence

from dovetail.errors import PlanError
from dovetail.model.predicate import Band, Equality, Predicate, predicate_streams
from dovetail.model.query import Algorithm, JoinQuery

_NARROWEST = 1e-300
_ROUNDING = 1e-14  # of the ends of a band: cells much narrower than what they are rounded by would be too many

ALGORITHMS = ("hash", "scan", "sorted")


def choose_algorithm(query: JoinQuery, name: str, predicates: Sequence[Predicate]) -> Algorithm:
    """The algorithm asked for, if the predicates allow it, else the one they suggest."""
    own = [predicate for predicate in predicates if name in predicate_streams(predicate)]
    kinds = {type(predicate) for predicate in own}
    can_hash = Equality in kinds or any(isinstance(p, Band) and cell_width(p) is not None for p in own)
    asked = _asked(query, name)
    if asked is None:
        return "hash" if can_hash else "sorted" if Band in kinds else "scan"
    if asked == "hash" and not can_hash:
        raise PlanError(
            f"algorithm: stream {name!r} cannot be stored as 'hash': no equality and no band with two ends ties it to "
            "another stream. Try 'scan', or 'sorted' if a comparison does."
        )
    if asked == "sorted" and not kinds & {Equality, Band}:
        raise PlanError(
            f"algorithm: stream {name!r} cannot be stored as 'sorted': no equality or band predicate ties it to "
            "another stream. Try 'scan'."
        )
    return asked


def _asked(query: JoinQuery, name: str) -> Algorithm | None:
    return None if query.algorithm == "auto" else query.algorithm.get(name)


def cell_width(band: Band) -> float | None:
    """How wide the cells are that a band hashes by: as wide as itself; None if it is open, empty or a point."""
    if band.low is None or band.high is None:
        return None
    whole = isinstance(band.low, int) and isinstance(band.high, int)
    width = float(band.high) - float(band.low) + whole
    if not _NARROWEST <= width < math.inf:
        return None
    return max(width, _ROUNDING * max(abs(band.low), abs(band.high)))
