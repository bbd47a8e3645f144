"""How a stream's window is stored: hash for equalities, sorted for bands, scan for everything else."""

from collections.abc import Sequence

from dovetail.errors import PlanError
from dovetail.model.predicate import Band, Equality, Predicate, predicate_streams
from dovetail.model.query import Algorithm, JoinQuery

ALGORITHMS = ("hash", "scan", "sorted")


def choose_algorithm(query: JoinQuery, name: str, predicates: Sequence[Predicate]) -> Algorithm:
    """The algorithm asked for, if the predicates allow it, else the one they suggest."""
    kinds = {type(predicate) for predicate in predicates if name in predicate_streams(predicate)}
    asked = _asked(query, name)
    if asked is None:
        return "hash" if Equality in kinds else "sorted" if Band in kinds else "scan"
    if asked == "hash" and Equality not in kinds:
        raise PlanError(
            f"algorithm: stream {name!r} cannot be stored as 'hash': no equality ties it to another stream. "
            "Try 'scan', or 'sorted' if it has a band predicate."
        )
    if asked == "sorted" and not kinds & {Equality, Band}:
        raise PlanError(
            f"algorithm: stream {name!r} cannot be stored as 'sorted': no equality or band predicate ties it to "
            "another stream. Try 'scan'."
        )
    return asked


def _asked(query: JoinQuery, name: str) -> Algorithm | None:
    return None if query.algorithm == "auto" else query.algorithm.get(name)
