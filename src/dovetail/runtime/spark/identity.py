"""Who a checkpoint belongs to: the query as text, and a fingerprint of that text.

Everything that gives stored slices their meaning is in it: streams, windows, predicates, columns, and
the grid that dealt tuples out to buckets, with the shuffle partitions that their numbers were chosen for.
Delays and idle times are not: they may change between runs.
"""

import hashlib

from dovetail.model.query import JoinQuery
from dovetail.model.window import TimeWindow, Window
from dovetail.plan.partition_grid import Grid

STATE_FORMAT = 1


def describe(query: JoinQuery, grid: Grid, partitions: int) -> str:
    """The query in a few lines that a person can compare with another."""
    streams = [
        f"  stream {stream.name}: time {stream.time}, window {stream.window}, "
        + ", ".join(f"{field.name} {field.type}" for field in stream.schema)
        for stream in query.streams
    ]
    conditions = [*map(str, query.predicates), *(str(condition) for _, condition in query.filters)]
    selected = ", ".join(f"{output.expression} AS {output.name}" for output in query.select)
    return "\n".join(
        [
            *streams,
            f"  {query.how} join on {' AND '.join(conditions)}",
            f"  select {selected}",
            *([f"  aggregates {query.aggregation}"] if query.aggregation else []),
            f"  order {query.order}, late {query.late}",
            f"  {grid}, over {partitions} shuffle partitions",
        ]
    )


def describe_shared(query: JoinQuery, grid: Grid, partitions: int) -> str:
    """Of queries that share an operator: what they have in common, which is all that their state depends on."""
    streams = [
        f"  stream {stream.name}: time {stream.time}, window of {_kind(stream.window)}, "
        + ", ".join(f"{field.name} {field.type}" for field in stream.schema)
        for stream in query.streams
    ]
    conditions = " AND ".join(sorted(map(str, query.predicates)))
    shared = f"  shared {query.how} join on {conditions}, late {query.late}"
    return "\n".join([*streams, shared, f"  {grid}, over {partitions} shuffle partitions"])


def _kind(window: Window | None) -> str:
    return "time" if isinstance(window, TimeWindow) else "rows"


def fingerprint(description: str) -> str:
    """Different for different descriptions, and for another layout of the state."""
    return hashlib.sha256(f"{STATE_FORMAT}\n{description}".encode()).hexdigest()[:32]
