"""Which shared queries can be dealt out to the same buckets on Spark.

The buckets of a group are those of an inner join, whoever takes part, so that a changed set of queries resumes. A query
whose rows come out on their own, or that aggregates, may need fewer or other cells:

    A.k = B.k, LEFT JOIN                       hash of k serves: with the inner ones
    A.k = B.k, GROUP BY A.place                a group of places would be in several cells: one cell, apart
    ABS(A.x - B.x) <= 1, RIGHT JOIN            a row of B may be in two ranges of A.x: ranges of B.x, apart

Queries that need the same axes share an operator again.
"""

from dataclasses import replace

from dovetail.model.query import JoinQuery
from dovetail.plan.partition_grid import Axis, partition_grid, serves
from dovetail.plan.share_queries import needs_desk

_TRIED = (2, 3, 4, 8, 16, 64)  # a checkpoint may have any number of buckets; which axes serve depends on it little


def own_axes(query: JoinQuery) -> tuple[Axis, ...] | None:
    """The axes of a query that must be apart from the inner joins over its streams; None if it need not be."""
    if query.answered is not None or not needs_desk(query):
        return None
    plain = plain_join(query)
    if not query.stepwise and all(serves(partition_grid(plain, buckets), query) for buckets in _TRIED):
        return None
    return tuple(replace(axis, size=1) for axis in partition_grid(query, _TRIED[2]).axes)


def plain_join(query: JoinQuery) -> JoinQuery:
    """The inner join that finds a query's results; as-of joins, and those with words for streams, do as they are."""
    as_it_is = query.stepwise or query.answered is not None
    return replace(query, how=query.how if as_it_is else "inner", aggregation=None)
