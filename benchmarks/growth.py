"""What a tuple costs and what a stored tuple weighs, as windows grow from a thousand to ten million tuples.

    hash      equality; as many keys as the window has tuples, so that about one matches whatever the size
    sorted    a band of 1 / tuples around values spread over [0, 1): about one matches again

Each size runs in a process of its own. The window is filled with large blocks; then every tuple of it is replaced once
(or ``LEAST`` tuples come, if those are more), in blocks of one size, so that what is put off for later is paid for
within the measurement. It counts CPU time, which other work on the machine disturbs little. The weight must stay below
twice the Arrow bytes of the columns plus 40.
"""

import gc
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from benchmarks.alone import alone
from benchmarks.limit_threads import limit_arrow
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.pushing import checked
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import Workload

FULL = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
QUICK = (1_000, 10_000, 100_000)
PUSHES = (1_000, 10_000)
LEAST, FILL = 1_000_000, 500_000
STEP_US = 100
SCHEMA = {
    "hash": pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.float64()}),
    "sorted": pa.schema({"ts": pa.timestamp("us"), "x": pa.float64(), "v": pa.float64()}),
}
ARROW_BYTES = 24
LIMIT_BYTES = 2 * ARROW_BYTES + 40
WEIGHED_FROM = 1_000_000


@dataclass(frozen=True)
class Point:
    """One kind of window at one size; the process's own growth says nothing where the window is a small part of it."""

    kind: str
    tuples: int
    ns_per_tuple: dict[str, float]
    slowest_push_ms: dict[str, float]
    matches_per_tuple: float
    bytes_per_tuple: float
    rss_per_tuple: float | None


def run(settings: Settings) -> Report:
    """Every kind at every size."""
    sizes = QUICK if settings.quick else FULL
    least = settings.size(LEAST, 100_000)
    equal = all(_as_duckdb(kind) for kind in SCHEMA)
    points = [alone(measure, kind, size, least) for kind in SCHEMA for size in sizes] if equal else []
    fields: dict[str, Any] = {"rows": sum(point.tuples * 2 for point in points), "results_equal": equal}
    fields |= {"limit_bytes_per_tuple": LIMIT_BYTES, "points": [asdict(point) for point in points]}
    fields["growth"] = {kind: _growth([point for point in points if point.kind == kind]) for kind in SCHEMA if points}
    fields["within_limit"] = all(max(p.bytes_per_tuple, p.rss_per_tuple or 0) <= LIMIT_BYTES for p in points)
    costs = (f"ns/tuple, pushes of {size:,}" for size in PUSHES)
    header = ("window", "tuples", *costs, "slowest push, ms", "matches/tuple", "bytes/tuple", "RSS/tuple")
    title = f"Growth: cost per tuple, and memory (limit {LIMIT_BYTES} bytes per stored tuple)"
    return Report(title, header, [_line(point) for point in points], fields)


def _line(p: Point) -> tuple[object, ...]:
    costs = (*p.ns_per_tuple.values(), max(p.slowest_push_ms.values()))
    return (p.kind, p.tuples, *costs, p.matches_per_tuple, p.bytes_per_tuple, p.rss_per_tuple)


def _growth(points: list[Point]) -> dict[str, float]:
    """How many times more a tuple costs in the largest window than in the smallest."""
    first, last = points[0].ns_per_tuple, points[-1].ns_per_tuple
    return {size: round(last[size] / first[size], 3) for size in first}


def measure(kind: str, tuples: int, least: int) -> Point:
    """Fill, weigh, then push."""
    limit_arrow()
    _as_duckdb(kind)  # loads the kernels, so that their code does not count as state
    empty = _resident()
    run, feed = _workload(kind, tuples).query(algorithm=kind).local(threads=1), Feed(kind, tuples)
    for name, block in feed.blocks(tuples, FILL):
        run.push(name, block)
    grown = _resident() - empty
    streams = run.metrics()["streams"].values()
    stored = sum(stream["stored"] for stream in streams)
    weight = sum(stream["bytes"] for stream in streams) / stored
    timed = {str(size): _push(run, feed, max(tuples, least), size) for size in PUSHES}
    return Point(
        kind,
        tuples,
        {size: round(spent * 1e9, 1) for size, (spent, _, _) in timed.items()},
        {size: round(slowest * 1e3, 2) for size, (_, slowest, _) in timed.items()},
        round(timed[str(PUSHES[0])][2], 2),
        round(weight, 1),
        round(grown / stored, 1) if tuples >= WEIGHED_FROM else None,
    )


def _push(run: Any, feed: "Feed", rows: int, size: int) -> tuple[float, float, float]:
    """Seconds per tuple, the slowest push, and matches per tuple; making the input is not timed."""
    spent, slowest, results, count = 0.0, 0.0, 0, 0
    for name, block in feed.blocks(rows, size):
        started = time.process_time()
        results += run.push(name, block).num_rows
        took = time.process_time() - started
        spent, slowest, count = spent + took, max(slowest, took), count + block.num_rows
    return spent / count, slowest, results / count


def _workload(kind: str, tuples: int, tables: dict[str, pa.Table] | None = None) -> Workload:
    tables = tables or {name: SCHEMA[kind].empty_table() for name in "AB"}
    width = f"{0.5 / tuples:.12f}"
    on = "A.k = B.k" if kind == "hash" else f"ABS(A.x - B.x) <= {width}"
    ranged = None if kind == "hash" else f"A.x BETWEEN B.x - {width} AND B.x + {width}"
    select = ("A.ts AS a_ts", "B.ts AS b_ts", "A.v AS a_v", "B.v AS b_v")
    return Workload(kind, tables, on, ranged, tuples * STEP_US, select, ("a_ts", "b_ts"))


class Feed:
    """Rows made as they are needed, so that input never weighs."""

    def __init__(self, kind: str, tuples: int) -> None:
        self._kind, self._tuples = kind, tuples
        self._random = np.random.default_rng(tuples)
        self._next = 0

    def blocks(self, rows: int, size: int) -> Iterator[tuple[str, pa.RecordBatch]]:
        """``rows`` of each stream, in turns."""
        for first in range(0, rows, size):
            count = min(size, rows - first)
            for place, name in enumerate("AB"):
                yield name, self._block(count, place)
            self._next += count

    def _block(self, count: int, place: int) -> pa.RecordBatch:
        times = (self._next + np.arange(count)) * STEP_US + place * STEP_US // 2
        random, schema = self._random, SCHEMA[self._kind]
        value = random.integers(0, self._tuples, count) if self._kind == "hash" else random.random(count)
        arrays = [pa.array(times).cast(schema.field(0).type), pa.array(value), pa.array(random.random(count))]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _as_duckdb(kind: str, tuples: int = 10_000, rows: int = 50_000) -> bool:
    """The join that is measured gives what DuckDB gives, on a small input."""
    blocks = list(Feed(kind, tuples).blocks(rows, 10_000))
    tables = {name: pa.Table.from_batches([block for owner, block in blocks if owner == name]) for name in "AB"}
    workload = _workload(kind, tuples, tables)
    return checked(workload.query(algorithm=kind), blocks, workload.checked) == OfflineJoin(workload).sum()


def _resident() -> int:
    """Bytes of memory that the process holds, once what is free has been given back."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    return int(psutil.Process().memory_info().rss)
