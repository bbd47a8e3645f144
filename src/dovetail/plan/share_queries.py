"""Which queries are one operator: the union of queries over the same streams with the same join predicate.

    q1   A, B within 1 s     A.k = B.k AND A.v > 10     select A.k          \\   union: within 60 s, A.k = B.k,
    q2   A, B within 60 s    A.k = B.k                  select A.k, B.v     /   every column that one of them reads

The union has each stream's largest window. Conditions on one stream that all queries have stay below
the join; the others are pulled above it, to the routing of results to queries. A query's windows, its own
conditions, its select list and its order are applied there, so that its output is what it would be alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

import pyarrow as pa

from dovetail.errors import QueryError
from dovetail.model.expression import Column, Expression, columns_of
from dovetail.model.fingerprint import fingerprint
from dovetail.model.how import How
from dovetail.model.nested import plain_schema
from dovetail.model.output import Output
from dovetail.model.predicate import Equality, Predicate
from dovetail.model.query import JoinQuery
from dovetail.model.window import RowWindow, TimeWindow, Window
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.share_asof import asof_signature, asof_union

ScheduleName = Literal["greedy", "smallest", "largest"]

SCHEDULES: tuple[ScheduleName, ...] = ("greedy", "smallest", "largest")


@dataclass(frozen=True)
class Member:
    """A query of a group, under the name its results carry."""

    name: str
    query: JoinQuery

    @property
    def fingerprint(self) -> str:
        """Equal for members that can go on from each other's place in a group."""
        return f"{fingerprint(self.query)} {self.query.schema.names}"

    @property
    def older_fingerprint(self) -> str:
        """What format 1 (0.1) knew the query by."""
        return fingerprint(self.query, named=True)


@dataclass(frozen=True)
class SharedPlan:
    """One operator for some queries: the plan of their union, and the columns that all results together have."""

    plan: Plan
    members: tuple[Member, ...]
    schema: pa.Schema
    schedule: ScheduleName = "greedy"
    group: str = ""


def member_of(query: Any, unnamed: str) -> Member:
    """A query as one of many, under its own name or this one; QueryError if it is no query."""
    model = getattr(query, "model", None)
    if not isinstance(model, JoinQuery):
        raise QueryError(f"share: got a {type(query).__name__}; give queries made with dovetail.join or dovetail.sql")
    return Member(query.name or unnamed, model)


def share_plan(
    members: Sequence[Member], schema: pa.Schema | None = None, schedule: ScheduleName = "greedy", group: str = ""
) -> SharedPlan:
    """The plan of compatible queries as one operator."""
    queries = [member.query for member in members]
    plan = plan_query(union_query(queries) if queries[0].answered is None else asof_union(queries))
    return SharedPlan(plan, tuple(members), schema or shared_schema(members), schedule, group)


def union_query(queries: Sequence[JoinQuery]) -> JoinQuery:
    """The query whose results are those of all of them, before their own windows and conditions."""
    first = queries[0]
    streams = tuple(
        replace(stream, window=_largest([query.stream(stream.name).window for query in queries]))
        for stream in first.streams
    )
    shared = [part for part in first.filters if all(part in query.filters for query in queries)]
    read = dict.fromkeys(column for query in queries for column in _read_by(query, shared))
    select = tuple(Output(str(column), column) for column in read)
    order = "hold" if any(query.order != "none" for query in queries) else "none"
    return replace(
        first,
        streams=streams,
        filters=tuple(shared),
        select=select,
        how=first.how if first.stepwise else _preserving(queries),
        order=order,
        aggregation=None,
    )


def needs_desk(query: JoinQuery) -> bool:
    """Whether routing results to it is not all: rows come out on their own, or are counted."""
    return query.how != "inner" or query.aggregation is not None


def _preserving(queries: Sequence[JoinQuery]) -> How:
    """The join that keeps every row which some query gives out without a partner."""
    kept = {name for query in queries for name in query.preserved}
    left, right = queries[0].names[0] in kept, queries[0].names[-1] in kept
    return "full" if left and right else "left" if left else "right" if right else "inner"


def _read_by(query: JoinQuery, shared: Sequence[tuple[str, Expression]]) -> Iterable[Column]:
    for output in query.select:
        yield from columns_of(output.expression)
    for part in query.filters:
        if part not in shared:
            yield from columns_of(part[1])


def _largest(windows: Sequence[Window | None]) -> Window:
    """The largest of windows of one kind."""
    return max((window for window in windows if window is not None), key=window_size)


def window_size(window: Window | None) -> int:
    """Microseconds, or rows."""
    if isinstance(window, TimeWindow):
        return window.length_us
    assert window is not None, "every stream of a query has a window"
    return window.count


def window_sizes(query: JoinQuery) -> dict[str, int]:
    """The size of each stream's window."""
    return {stream.name: window_size(stream.window) for stream in query.streams}


def signature(query: JoinQuery) -> str:
    """The same for queries that can be one operator: all but windows' sizes, conditions, columns, order and kind.

    Joins with a word for each of several streams differ in columns and order at most: all else decides what is missing.
    """
    parts: list[object] = [
        query.how if query.stepwise else "inner",
        query.late,
        query.algorithm,
        query.plan,
        query.budget,
        query.partitions,
    ]
    for stream in query.streams:
        kind = stream.window.per if isinstance(stream.window, RowWindow) else "time"
        fields = [(field.name, str(field.type)) for field in plain_schema(stream.schema)]
        parts.append((stream.name, fields, stream.time, kind, stream.delay_us, stream.idle_us))
        parts += [("ahead", stream.ahead_us)] if stream.ahead_us is not None else []
        parts += [stream.dedup] if stream.dedup is not None else []
    parts += sorted(_predicate_text(predicate) for predicate in query.predicates)
    parts += asof_signature(query)
    if query.stepwise:
        parts += [window_sizes(query), sorted(map(str, query.filters))]
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _predicate_text(predicate: Predicate) -> str:
    if isinstance(predicate, Equality):
        return " = ".join(sorted([str(predicate.left), str(predicate.right)]))
    return str(predicate)


def shared_schema(members: Sequence[Member]) -> pa.Schema:
    """``query``, ``result_time``, then every column that some query selects; NULL in the rows of the others."""
    fields: dict[str, tuple[pa.Field, str]] = {}
    for member in members:
        for field in member.query.schema:
            known, first = fields.setdefault(field.name, (field, member.name))
            if known.type != field.type:
                raise QueryError(
                    f"share: column {field.name!r} is {known.type} in query {first!r} and {field.type} in query "
                    f"{member.name!r}; rename one with AS"
                )
            if field.name == "query":
                raise QueryError(f"share: query {member.name!r} selects a column 'query', which is taken; use AS")
    return pa.schema([pa.field("query", pa.string()), *(field for field, _ in fields.values())])
