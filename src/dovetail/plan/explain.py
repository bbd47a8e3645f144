"""The plan in words a person can check."""

from collections.abc import Iterator

from dovetail.model.window import RowWindow
from dovetail.plan.keep_groups import where_aggregated
from dovetail.plan.partition_grid import partition_grid
from dovetail.plan.physical import Access, BandAccess, KeyAccess, Level, Plan, SimilarityAccess

ASSUMED_PARTITIONS = 4


def explain(plan: Plan) -> str:
    """Streams with windows and storage, the probe of each arriving stream, and the buckets on Spark."""
    return "\n".join([*_lines(plan), *_partitioning(plan)])


def _partitioning(plan: Plan) -> Iterator[str]:
    asked = plan.query.partitions
    whole = [s.name for s in plan.query.streams if isinstance(s.window, RowWindow) and s.window.per == "stream"]
    yield "partitioning on Spark" + ("" if asked else f", if the session has {ASSUMED_PARTITIONS} shuffle partitions")
    grid = partition_grid(plan.query, asked or ASSUMED_PARTITIONS)
    yield f"  {grid}"
    if plan.query.aggregation:
        yield f"  {where_aggregated(grid)}"
    for name in whole:
        yield f"  every cell sees all of {name}: its window counts rows of the whole stream"


def _lines(plan: Plan) -> Iterator[str]:
    query = plan.query
    yield f"{query.how} join of {len(query.streams)} streams, one operator, order {query.order}, late rows {query.late}"
    yield "streams"
    for stream in query.streams:
        storage = plan.storage[stream.name]
        columns = ", ".join(storage.columns)
        yield f"  {stream.name}: window {stream.window}, stored as {storage.algorithm}, columns {columns}"
        for name, expression in query.filters:
            if name == stream.name:
                yield f"    only if {expression}"
    yield "probes"
    for name, levels in plan.probes.items():
        yield f"  {name} arrives"
        for level in levels:
            yield f"    -> {level.stream} {_access(level.access)}{_checks(level)}"
    if query.aggregation:
        yield "sliding aggregates, over the results that count at each moment"
        yield f"  {query.aggregation}"


def _access(access: Access) -> str:
    if isinstance(access, KeyAccess):
        pairs = zip(access.own.expressions, access.bound, strict=True)
        how = "index" if access.indexed else "scan"
        return f"by {how} on " + " AND ".join(f"{own} = {other}" for own, other in pairs)
    if isinstance(access, BandAccess):
        how = "hashed cells" if access.cells else "sorted runs" if access.indexed else "scan"
        return f"by {how} on {access.band}"
    if isinstance(access, SimilarityAccess):
        return f"by matrix products on {access.similarity}"
    return "by time alone"


def _checks(level: Level) -> str:
    return ", then " + " AND ".join(map(str, level.checks)) if level.checks else ""
