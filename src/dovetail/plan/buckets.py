"""Into how many buckets a query is cut on Spark if nobody says: as many as the session has shuffle partitions.

The one exception is an ordered query of equalities on two partitions. Several buckets need a last step in which one
task merges their rows; a single bucket gives its rows out in order while the other core turns them into Spark's, and
equalities are found so cheaply that this saves more than two buckets do.
"""

from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery

MERGED_FROM = 3


def buckets_of(query: JoinQuery, partitions: int) -> int:
    """What the query asks for, or what suits a session with so many shuffle partitions."""
    light = query.budget is None and all(isinstance(predicate, Equality) for predicate in query.predicates)
    alone = query.order != "none" and light and partitions < MERGED_FROM
    return query.partitions or (1 if alone else partitions)
