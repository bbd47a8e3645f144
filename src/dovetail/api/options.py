"""The names of a query's options, and the sentence about any other."""

from collections.abc import Iterable, Mapping

from dovetail.errors import QueryError, nearest

OPTIONS = (
    "on",
    "select",
    "how",
    "window",
    "order",
    "late",
    "budget",
    "algorithm",
    "plan",
    "partitions",
    "invalidation",
    "on_error",
)


def check_options(given: Iterable[str], fixed: Mapping[str, str] | None = None) -> None:
    """QueryError at a name that is no option, with the nearest that is one, or at one that is fixed, and why.

    >>> check_options(["order"])
    """
    reasons = fixed or {}
    known = [option for option in OPTIONS if option not in reasons]
    for name in given:
        if name in reasons:
            raise QueryError(f"{name}= {reasons[name]}; leave it out of the options")
        if name not in known:
            raise QueryError(f"a query has no option {name!r}; {nearest(name, known)}")
