"""When tuples that have left a window are forgotten (Kang, Naughton, Viglas: window joins, sections 3.1 and 3.2).

    active    after every block, of its own stream too: nothing stays longer than it must
    lazy      when another stream has come and looked into the window: fewer checks, what leaves meanwhile piles up

Tuples of a time window leave as the other streams come further, so between two of their blocks nothing can pile up.
Those of a row window are pushed out by their own stream, however long the others are silent: lazy is chosen unless
that would more than double what the window holds.
"""

from dovetail.errors import PlanError
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics
from dovetail.model.window import RowWindow


def choose_lazy(query: JoinQuery, known: Statistics | None = None) -> tuple[str, ...]:
    """The streams whose windows forget lazily; while nothing is known, those that the query sets by hand."""
    if query.invalidation == "lazy" and query.how != "inner":
        raise PlanError(
            f"invalidation='lazy' is for inner joins; with how={query.how!r} rows come out when they leave their "
            "window. Use 'auto' or 'active'."
        )
    if query.invalidation != "auto":
        return query.names if query.invalidation == "lazy" else ()
    if known is None or query.how != "inner":
        return ()
    return tuple(name for name in query.names if piled_up(query, known, name) <= known.streams[name].tuples)


def piled_up(query: JoinQuery, known: Statistics, name: str) -> float:
    """How many tuples a window holds that active invalidation would have forgotten."""
    if not isinstance(query.stream(name).window, RowWindow):
        return 0.0
    looks = sum(stream.rate / stream.block for other, stream in known.streams.items() if other != name)
    return known.streams[name].rate / looks if looks else float("inf")
