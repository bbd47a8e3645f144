"""Whether rows that can have no partner may be left unread: nothing but results may depend on them.

A left join shows them, a row window counts them, and a repeat is one only because of the row before it.
"""

from dovetail.model.query import JoinQuery
from dovetail.model.window import TimeWindow


def leave_unread(query: JoinQuery) -> dict[str, int]:
    """The length of every stream's window in microseconds, by which such rows are known; none if all rows are read."""
    lengths = {s.name: s.window.length_us for s in query.streams if isinstance(s.window, TimeWindow)}
    plain = all(
        each is None for s in query.streams for each in (s.asof, s.dedup, s.table, s.match, s.ahead_us, s.expiry)
    )
    inner = query.how == "inner" and query.answered is None and not query.stepwise
    return lengths if plain and inner and query.on_error == "raise" and len(lengths) == len(query.streams) else {}
