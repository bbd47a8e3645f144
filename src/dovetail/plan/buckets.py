"""Into how many buckets a query is cut on Spark if nobody says: as many as the session has shuffle partitions.

The one exception is an ordered query of equalities on two partitions. Several buckets need a last step in which one
task merges their rows; a single bucket gives its rows out in order while the other core turns them into Spark's, and
equalities are found so cheaply that this saves more than two buckets do.

Ordered queries that may spill have one, whatever is asked for: a bucket that owes joins with rows on disk holds its own
rows back, and the others, which know nothing of it, would go ahead.

A full join of a row window and a time window over tables has one bucket, whatever is asked for: rows that nothing has
pushed out of the row window come out at the end, not before any other row, and only one bucket knows of all others.
"""

from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow

MERGED_FROM = 3  # partitions from which on several buckets pay, as said above


def buckets_of(query: JoinQuery, partitions: int) -> int:
    """What the query asks for, or what suits a session with so many shuffle partitions."""
    light = query.budget is None and all(isinstance(predicate, Equality) for predicate in query.predicates)
    if query.order != "none" and query.budget is not None and query.budget.policy == "spill":
        return 1
    alone = query.order != "none" and light and partitions < MERGED_FROM
    return query.partitions or (1 if alone else partitions)


def end_needs_all_rows(query: JoinQuery) -> bool:
    """Whether the time of rows that stay to the end depends on which others have no partner."""
    return query.how == "full" and len({isinstance(stream.window, RowWindow) for stream in query.streams}) > 1
