"""Which queries of a pipeline file run as one join, and why the others do not.

    INSERT INTO alarms SELECT ... FROM T, H WHERE T.k = H.k AND T.value > 40 WINDOW 1 MINUTE   \\  one join,
    INSERT INTO pairs  SELECT ... FROM T, H WHERE T.k = H.k WINDOW 10 SECONDS                  /  two sinks
    INSERT INTO near   SELECT ... FROM T, H WHERE T.x = H.x WINDOW 10 SECONDS                  by itself

Aliases make no difference, nor whether unmatched rows come out or results are counted. Queries that could be one join,
but would cost more so, run by themselves; so do those that need other buckets.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.cli.pipeline_file import Routed
from dovetail.errors import QueryError
from dovetail.model.combinations import features_of, refusal
from dovetail.plan.declared_names import under_declared_names
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_cost import READ_ON_SPARK, better_alone
from dovetail.plan.share_queries import Member, shared_schema

WRITTEN_IN_BATCHES = ("parquet", "orc", "json", "csv", "text", "avro", "kafka", "console", "noop")
NOBODY = "no other query has its streams, join condition, buckets, late rows, trigger, schedule and kind of checkpoint"


@dataclass(frozen=True)
class Part:
    """Queries that are one join, or one query by itself and why."""

    routes: tuple[Routed, ...]
    why: str = ""

    @property
    def name(self) -> str:
        return ", ".join(route.sink.name for route in self.routes)

    @property
    def groups(self) -> Groups:
        """The queries as one operator."""
        schedule: Any = self.routes[0].sink.schedule
        return Groups.of((_member(route) for route in self.routes), schedule).together()


def parts_of(routes: Sequence[Routed]) -> list[Part]:
    """All queries, in the order of the file; those that share stand where the first of them does."""
    kept: list[Part] = [Part((route,), why) for route in routes if (why := obstacle(route))]
    fitting: dict[object, list[Routed]] = {}
    for route in routes:
        if not obstacle(route):
            fitting.setdefault(_kind(route), []).append(route)
    for some in fitting.values():
        kept += _by_cost(some)
    places = {route.sink.name: at for at, route in enumerate(routes)}
    return sorted(kept, key=lambda part: places[part.routes[0].sink.name])


def obstacle(route: Routed) -> str:
    """Why a query cannot share with any other; empty if it can."""
    query, sink = route.query.model, route.sink
    refused = refusal(features_of(query, runs="shared"))
    if refused is not None:
        return refused.why
    if sink.own is not None:
        return "Dovetail writes its files itself, one query into each folder"
    if sink.late_path is not None:
        return "its late rows go to a folder of its own"
    own = sorted(sink.settings.keys() - {"order", "late"})
    if own:
        return f"it has {', '.join(own)} of its own"
    if sink.format.lower() not in WRITTEN_IN_BATCHES:
        return f"a sink of format {sink.format!r} is written by a query of its own"
    return "it selects a column 'query', which shared results have already" if "query" in query.schema.names else ""


def group_name(route: Routed) -> str:
    """The same for queries that can be one operator."""
    (place,) = Groups.of([_member(route)]).together().places
    return place


def _kind(route: Routed) -> tuple[object, ...]:
    sink = route.sink
    return group_name(route), sink.trigger_us, sink.checkpoint is None, sink.schedule


def _member(route: Routed) -> Member:
    return Member(route.sink.name, under_declared_names(route.query.model))


def _by_cost(routes: Sequence[Routed]) -> Iterator[Part]:
    """Those that had better be alone, then the others, as one join if their columns allow it."""
    apart = better_alone([_member(route) for route in routes], READ_ON_SPARK)
    for route in routes:
        if route.sink.name in apart:
            yield Part((route,), f"it costs less so, {apart[route.sink.name]}")
    staying = [route for route in routes if route.sink.name not in apart]
    for some in _by_columns(staying):
        others = [route.sink.name for route in staying if route not in some]
        why = f"a column has another type in the query into {others[0]}" if others else NOBODY
        yield Part(tuple(some), why if len(some) == 1 else "")


def _by_columns(routes: Iterable[Routed]) -> list[list[Routed]]:
    """Sets in which columns of one name have one type."""
    sets: list[list[Routed]] = []
    for route in routes:
        fitting = next((some for some in sets if _agree([*some, route])), None)
        if fitting is None:
            sets.append([route])
        else:
            fitting.append(route)
    return sets


def _agree(routes: Sequence[Routed]) -> bool:
    try:
        shared_schema([_member(route) for route in routes])
    except QueryError:
        return False
    return True
