"""What a change costs a sliding aggregate, as the number of results that count grows from a thousand to a million.

Two streams joined by key, as many keys as a window has tuples, so that about one result comes and one goes for each
tuple. Every function runs alone, for all results and for a hundred groups; ``none`` is the same join in order without
aggregates. CPU time per result, its coming and its going together, once the windows are full.
"""

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.alone import alone
from benchmarks.growth import STEP_US, Feed
from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.testing import Push, oracle, same_rows

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.float64()})
ITEMS = {
    "none": "A.v",
    "COUNT": "COUNT(*) AS n",
    "COUNT DISTINCT": "COUNT(DISTINCT A.k) AS n",
    "SUM of integers": "SUM(A.k) AS n",
    "SUM of doubles": "SUM(A.v) AS n",
    "MIN": "MIN(A.v) AS n",
}
FULL = (1_000, 10_000, 100_000, 1_000_000)
QUICK = (1_000, 10_000)
PUSH, LEAST = 10_000, 500_000


@dataclass(frozen=True)
class Point:
    """One function at one number of results that count."""

    function: str
    grouped: bool
    counting: int
    ns_per_result: float


def run(settings: Settings) -> Report:
    """Every function at every size."""
    sizes, least = QUICK if settings.quick else FULL, settings.size(LEAST, 20_000)
    equal = all(_as_recomputed(name, grouped) for name in ITEMS for grouped in (False, True))
    asked = [(name, grouped, size) for name in ITEMS for grouped in (False, True) for size in sizes]
    points = [alone(measure, name, grouped, size, least) for name, grouped, size in asked] if equal else []
    fields: dict[str, Any] = {"rows": least, "results_equal": equal, "points": [asdict(point) for point in points]}
    lines = [_line(name, grouped, points) for name in ITEMS for grouped in (False, True)] if points else []
    fields["growth"] = {f"{line[0]}, {line[1]}": line[-1] for line in lines}
    header = ("aggregate", "groups", *(f"{size:,} count, ns/result" for size in sizes), "largest / smallest")
    return Report("Aggregates: cost of a result, coming and going", header, lines, fields)


def _line(name: str, grouped: bool, points: list[Point]) -> tuple[object, ...]:
    costs = [point.ns_per_result for point in points if (point.function, point.grouped) == (name, grouped)]
    return (name, 100 if grouped else 1, *costs, round(costs[-1] / costs[0], 2))


def measure(function: str, grouped: bool, counting: int, least: int) -> Point:
    """Fill both windows, then push."""
    limit_arrow()
    run, feed = _query(function, grouped, counting).local(threads=1), Feed("hash", counting)
    for name, block in feed.blocks(3 * max(counting, PUSH), 500_000):
        run.push(name, block)
    spent, count = 0.0, 0
    for name, block in feed.blocks(max(counting, least), PUSH):
        started = time.process_time()
        run.push(name, block)
        spent, count = spent + time.process_time() - started, count + block.num_rows
    return Point(function, grouped, counting, round(spent / count * 1e9, 1))


def _query(function: str, grouped: bool, counting: int, tables: dict[str, pa.Table] | None = None) -> dv.Query:
    streams = [
        dv.stream(name, time="ts", schema=SCHEMA) if tables is None else dv.stream(name, tables[name], time="ts")
        for name in "AB"
    ]
    by = "GROUP BY A.k % 100" if grouped and function != "none" else ""
    text = f"SELECT {ITEMS[function]} FROM A, B WHERE A.k = B.k {by} WINDOW {counting * STEP_US} US"
    return dv.sql(text, *streams, order="hold")


def _as_recomputed(function: str, grouped: bool) -> bool:
    """On a small input, what counting everything again at every moment gives."""
    random = np.random.default_rng(1)
    times = pa.array(np.arange(60) * STEP_US).cast(SCHEMA.field(0).type)
    tables = {
        name: pa.table([times, pa.array(random.integers(0, 20, 60)), pa.array(random.random(60))], SCHEMA)
        for name in "AB"
    }
    query = _query(function, grouped, 20, tables)
    return same_rows(query.collect(), oracle(query.model, [Push(tables)]).rows)
