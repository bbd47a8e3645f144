"""Which streams are tied together by predicates, and the check that all of them are."""

from collections.abc import Iterable, Sequence

from dovetail.errors import QueryError
from dovetail.model.predicate import Predicate, predicate_streams


def connected_components(names: Sequence[str], predicates: Iterable[Predicate]) -> list[set[str]]:
    """The streams grouped by whether any chain of predicates ties them together."""
    groups = [{name} for name in names]
    for predicate in predicates:
        streams = predicate_streams(predicate)
        touched = [group for group in groups if group & streams]
        groups = [group for group in groups if not group & streams] + [set().union(*touched)]
    return groups


def untied(names: Sequence[str], predicates: Iterable[Predicate]) -> tuple[list[str], list[str]] | None:
    """Two groups of streams that nothing ties together, the first ones in the query; None if all are tied."""
    groups = sorted(connected_components(names, predicates), key=lambda group: min(map(names.index, group)))
    if len(groups) < 2:
        return None
    return sorted(groups[0], key=names.index), sorted(groups[1], key=names.index)


def check_tied(names: Sequence[str], predicates: Iterable[Predicate], said: str = "") -> None:
    """Every stream is tied to the others; ``said`` names the text that should do it."""
    apart = untied(names, predicates)
    if apart is not None:
        first, second = (", ".join(map(repr, group)) for group in apart)
        raise QueryError(
            f"no predicate ties {first} to {second}{said}. "
            "Add one, or write on='TRUE' to join every combination within the windows."
        )
