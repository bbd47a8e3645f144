"""Who a checkpoint belongs to: the query as text, and a fingerprint of that text.

Everything that gives stored slices their meaning is in it: streams, windows, predicates, stored columns, and
the layout that dealt tuples out to buckets. What may change between runs is not: delays, idle times, columns of the
input that nobody reads, and the select list, unless rows that were made from it wait in the state.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.model.nested import plain_schema
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow

_DESCRIBED = 2  # the way in which queries are described since format 2 of checkpoints

Stored = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Identity:
    """Who a query is: as a text, and as the text by which format 1 (0.1) knew it.

    ``older`` is empty where a state of format 1 cannot be gone on from: its sources were in the order of the query, and
    are in the order of their names now.
    """

    text: str
    older: str

    def fingerprints(self, layout: object) -> tuple[str, ...]:
        """Under which a head may be found that was written over this layout; the first is how it is written now."""
        now = fingerprint(f"{self.text}\n  {layout}")
        return (now, fingerprint(f"{self.older}\n  {layout}", 1)) if self.older else (now,)


def identity(query: JoinQuery, stored: Stored) -> Identity:
    """Of a query that has the operator to itself; ``stored`` names each stream's columns."""
    return Identity(describe(query, stored), _describe_1(query) if _in_order(query) else "")


def shared_identity(query: JoinQuery) -> Identity:
    """Of queries that share an operator."""
    text = describe_shared(query)
    return Identity(text, text if _in_order(query) else "")


def _in_order(query: JoinQuery) -> bool:
    return list(query.names) == sorted(query.names)


def describe(query: JoinQuery, stored: Stored) -> str:
    """The query in a few lines that a person can compare with another; ``stored`` names each stream's columns."""
    streams = [
        f"  stream {stream.name}: time {stream.time}, {_counts(stream)}, {_columns(stream, stored)}"
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


def _counts(stream: Stream) -> str:
    """What of the stream counts."""
    asof = stream.asof
    return f"window {stream.window}" if asof is None else f"as of {asof}, {asof.how}"


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
        f"  stream {stream.name}: time {stream.time}, {_shared_kind(stream)}, "
        + ", ".join(f"{field.name} {field.type}" for field in plain_schema(stream.schema))
        for stream in query.streams
    ]
    conditions = " AND ".join(sorted(map(str, query.predicates)))
    return "\n".join([*streams, f"  shared inner join on {conditions}, late {query.late}"])


def _shared_kind(stream: Stream) -> str:
    if stream.asof is not None:
        return f"as of {stream.asof}"
    return f"window of {'time' if isinstance(stream.window, TimeWindow) else 'rows'}"


def _describe_1(query: JoinQuery) -> str:
    """As format 1 did: with every column of the inputs, and the names of the results."""
    streams = [
        f"  stream {stream.name}: time {stream.time}, window {stream.window}, "
        + ", ".join(f"{field.name} {field.type}" for field in stream.schema)
        for stream in query.streams
    ]
    conditions = [*map(str, query.predicates), *(str(condition) for _, condition in query.filters)]
    selected = ", ".join(f"{output.expression} AS {output.name}" for output in query.select)
    aggregates = [f"  aggregates {query.aggregation}"] if query.aggregation else []
    join = f"  {query.how} join on {' AND '.join(conditions)}"
    return "\n".join([*streams, join, f"  select {selected}", *aggregates, f"  order {query.order}, late {query.late}"])


def fingerprint(description: str, number: int = _DESCRIBED) -> str:
    """Different for different descriptions."""
    return hashlib.sha256(f"{number}\n{description}".encode()).hexdigest()[:32]
