"""Who a checkpoint belongs to: the query as text, and a fingerprint of that text.

Everything that gives stored slices their meaning is in it: streams, windows, predicates, stored columns, and
the layout that dealt tuples out to buckets. What may change between runs is not: delays, idle times, columns of the
input that nobody reads, and the select list, unless rows that were made from it wait in the state.
"""

import hashlib
from collections.abc import Mapping

from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow, Window

STATE_FORMAT = 2

Stored = Mapping[str, tuple[str, ...]]


def describe(query: JoinQuery, stored: Stored) -> str:
    """The query in a few lines that a person can compare with another; ``stored`` names each stream's columns."""
    streams = [
        f"  stream {stream.name}: time {stream.time}, window {stream.window}, {_columns(stream, stored)}"
        for stream in query.streams
    ]
    conditions = [*map(str, query.predicates), *(str(condition) for _, condition in query.filters)]
    return "\n".join(
        [
            *streams,
            f"  {query.how} join on {' AND '.join(conditions)}",
            *_waiting_rows(query),
            f"  order {query.order}, late {query.late}",
        ]
    )


def _columns(stream: Stream, stored: Stored) -> str:
    return ", ".join(f"{name} {stream.schema.field(name).type}" for name in stored[stream.name])


def _waiting_rows(query: JoinQuery) -> list[str]:
    """What finished rows in the state are made of, by position; aggregates go by the names they are grouped by."""
    if query.aggregation:
        selected = ", ".join(f"{output.expression} AS {output.name}" for output in query.select)
        return [f"  select {selected}", f"  aggregates {query.aggregation}"]
    if query.order == "none" and query.how == "inner":
        return []
    return [f"  select {', '.join(str(output.expression) for output in query.select)}"]


def describe_shared(query: JoinQuery) -> str:
    """Of queries that share an operator: what they have in common, which is all that their state depends on."""
    streams = [
        f"  stream {stream.name}: time {stream.time}, window of {_kind(stream.window)}, "
        + ", ".join(f"{field.name} {field.type}" for field in stream.schema)
        for stream in query.streams
    ]
    conditions = " AND ".join(sorted(map(str, query.predicates)))
    return "\n".join([*streams, f"  shared {query.how} join on {conditions}, late {query.late}"])


def _kind(window: Window | None) -> str:
    return "time" if isinstance(window, TimeWindow) else "rows"


def fingerprint(description: str) -> str:
    """Different for different descriptions, and for another layout of the state."""
    return hashlib.sha256(f"{STATE_FORMAT}\n{description}".encode()).hexdigest()[:32]
