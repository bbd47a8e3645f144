"""What is started for a pipeline file, given what its checkpoints remember.

A checkpoint belongs to the way its query was run. Queries that shared a join go on from its state, whoever else is in
the file now; a query that ran by itself goes on so. Only what is new is free to share:

    first run     alarms                    alone, in alarms.checkpoint
    second run    alarms, pairs, near       alarms goes on alone; pairs and near are one join, in pairs.checkpoint
    third run     near, wide                one join, from the state in pairs.checkpoint
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from dovetail.cli.pipeline_file import Routed
from dovetail.cli.pipeline_groups import Part, group_name, obstacle
from dovetail.errors import StateError
from dovetail.runtime.spark.shared_checkpoint import Past, remember

if TYPE_CHECKING:
    from contextlib import ExitStack

    from dovetail.runtime.spark.frames import SparkSession


@dataclass(frozen=True)
class Start:
    """A part, and where its state is if it is one join of several sinks (None: wherever, nothing is kept)."""

    part: Part
    shared: bool = False
    home: str | None = None


def starts(parts: Iterable[Part], past: Callable[[str], Past]) -> list[Start]:
    """The parts as their checkpoints allow, those with one state as one; ``past`` reads a checkpoint."""
    found = [each for part in parts for each in _by_past(part, past)]
    homes: dict[str, list[Routed]] = {}
    for each in found:
        if each.home:
            homes.setdefault(each.home, []).extend(each.part.routes)
    shared = [Start(Part(tuple(routes)), True, home) for home, routes in homes.items()]
    return [*shared, *(each for each in found if not each.home)]


def _by_past(part: Part, past: Callable[[str], Past]) -> Iterator[Start]:
    """Query by query: alone if it was, else with the state that it had, else with that of the others."""
    if part.routes[0].sink.checkpoint is None:
        yield Start(part, shared=len(part.routes) > 1)
        return
    known = [(route, _past(route, past)) for route in part.routes]
    yield from (Start(Part((route,))) for route, found in known if found.alone)
    free = [(route, found.home) for route, found in known if not found.alone]
    new = free[0][0].sink.checkpoint if len(free) > 1 else None
    first = next((home for _, home in free if home), new)
    for route, home in free:
        yield Start(Part((route,)), first is not None, home or first)


def _past(route: Routed, past: Callable[[str], Past]) -> Past:
    found = past(str(route.sink.checkpoint))
    if found.home and (obstacle(route) or found.group != group_name(route)):
        raise StateError(
            f"sink {route.sink.name!r}: its checkpoint is that of a query over other streams or with another join "
            "condition; give it a new one, or put the query back"
        )
    return found


def start_shared(session: "SparkSession", start: Start, once: bool, stopping: "ExitStack") -> Any:
    """One join, and a sink for each of its queries."""
    from dovetail.api.shared_query import SharedQuery
    from dovetail.runtime.spark.sinks import write_shared

    routes = start.part.routes
    checkpoint = start.home or stopping.enter_context(
        TemporaryDirectory(prefix="dovetail-", ignore_cleanup_errors=True)
    )
    for route in routes if start.home else ():
        remember(session, str(route.sink.checkpoint), Past(home=start.home, group=group_name(route)))
    groups, trigger = start.part.groups, _trigger(routes[0], once)
    sinks = {route.sink.name: {"format": route.sink.format, **route.sink.options} for route in routes}
    frame = SharedQuery(groups).spark(session)
    return write_shared(frame, groups.members, sinks, checkpoint, trigger, start.part.name)


def start_alone(route: Routed, once: bool, session: "SparkSession | None" = None) -> Any:
    """One query, written by its own sink, Spark's or Dovetail's."""
    sink, trigger = route.sink, _trigger(route, once)
    if sink.own is not None:
        query = route.query.named(sink.name)
        return query.write(sink.own, str(sink.checkpoint), trigger=trigger, session=session)
    writing = route.query.spark(session).writeStream.queryName(sink.name).format(sink.format).options(**sink.options)
    if sink.checkpoint is not None:
        writing = writing.option("checkpointLocation", sink.checkpoint)
    return (writing.trigger(**trigger) if trigger else writing).start()


def start_late(route: Routed, once: bool, session: "SparkSession | None" = None) -> Any:
    """The rows that do not come into a query, as Parquet files; with a state of its own, beside the query's."""
    sink, trigger = route.sink, _trigger(route, once)
    writing = route.query.late(session).writeStream.queryName(f"{sink.name} (late)").format("parquet")
    writing = writing.option("path", sink.late_path).option("checkpointLocation", f"{sink.checkpoint}-late")
    return (writing.trigger(**trigger) if trigger else writing).start()


def _trigger(route: Routed, once: bool) -> dict[str, Any]:
    if once:
        return {"availableNow": True}
    every = route.sink.trigger_us
    return {} if every is None else {"processingTime": f"{every // 1000} milliseconds"}


def check_finish(begun: Iterable[Start]) -> None:
    """StateError unless all can be finished: their state is kept, and their sinks take a batch once more."""
    for each in begun:
        sink = each.part.routes[0].sink
        if sink.checkpoint is None or not (each.shared or sink.own is not None):
            raise StateError(
                f"sink {sink.name!r}: --finish writes a last batch after the others, which takes a checkpoint and, for "
                "a query by itself, writer = 'dovetail'"
            )


def finish_all(session: "SparkSession", begun: Iterable[Start]) -> None:
    """Write what every part still holds, as if its input had ended."""
    from dovetail.api.shared_query import SharedQuery
    from dovetail.runtime.spark.sinks import finish_shared_into

    for each in begun:
        routes = each.part.routes
        if not each.shared:
            routes[0].query.finish(str(routes[0].sink.checkpoint), routes[0].sink.own, session)
            continue
        sinks = {route.sink.name: {"format": route.sink.format, **route.sink.options} for route in routes}
        finish_shared_into(
            SharedQuery(each.part.groups).plans, each.part.groups.members, sinks, str(each.home), session
        )


def start_all(
    session: "SparkSession", begun: Iterable[Start], once: bool, stopping: "ExitStack"
) -> list[tuple[str, Any]]:
    """Every part, under the names of its sinks; what was started is stopped when ``stopping`` ends."""
    started = []
    for each in begun:
        own = each.part.routes[0]
        query = start_shared(session, each, once, stopping) if each.shared else start_alone(own, once, session)
        stopping.callback(query.stop)
        started.append((each.part.name, query))
        if own.sink.late_path is not None:
            late = start_late(own, once, session)
            stopping.callback(late.stop)
            started.append((f"{each.part.name} (late)", late))
    return started
