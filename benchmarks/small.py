"""What a small push takes: its median time and the Python calls it makes, for pushes of 1, 100 and 1,000 rows.

Windows are full when it begins: a window's worth of rows is pushed before, in large blocks. Rows come as record
batches; the results of every push are read. ``ns_per_row`` at 1,000 rows beside ``ns_per_row`` at 1 tells how much of
a push is paid once.
"""

import cProfile
import pstats
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.limit_threads import limit_arrow
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.pushing import Blocks, blocks_of, checked
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import SECOND, Workload, band, equi, equi3
from dovetail.runtime.local import Run

SIZES = (1, 100, 1_000)
FILL = 10_000  # rows of the pushes that fill the windows
PROFILED = 50  # pushes whose calls are counted, after those that are timed


def run(settings: Settings) -> Report:
    """Two streams by key, by a band, and three by key."""
    limit_arrow()
    rows, pushes = settings.size(1_200_000, 200_000), settings.choose(2_000, 100)
    measured = {name: _measured(workload(rows), pushes) for name, workload in WORKLOADS.items()}
    fields: dict[str, Any] = {"workloads": measured, "rows": rows}
    fields["results_equal"] = all(found["results_equal"] for found in measured.values())
    header = ("workload", "rows/push", "median us", "us, slowest of 20", "Python calls")
    lines = [
        (name, size, found["median_us"][size], found["slow_us"][size], found["calls"][size])
        for name, found in measured.items()
        for size in found.get("median_us", ())
    ]
    return Report("Small pushes: time and calls of one push", header, lines, fields)


WORKLOADS: dict[str, Callable[[int], Workload]] = {"equi": equi, "band": band, "equi3": equi3}


def _measured(workload: Workload, pushes: int) -> dict[str, Any]:
    query = workload.query()
    fields: dict[str, Any] = {"median_us": {}, "slow_us": {}, "calls": {}}
    equal = checked(query, blocks_of(workload, 1_000), workload.checked) == OfflineJoin(workload).sum()
    if not equal:
        return {"results_equal": False}
    for size in SIZES:
        run, rest = _filled(workload)
        blocks = _cut(rest, size, pushes + PROFILED)
        timed, profiled = blocks[:-PROFILED], blocks[-PROFILED:]
        times = [_push_us(run, *block) for block in timed]
        fields["median_us"][str(size)] = round(median(times), 1)
        fields["slow_us"][str(size)] = round(sorted(times)[len(times) * 19 // 20], 1)
        fields["calls"][str(size)] = _calls(run, profiled)
    return fields | {"results_equal": equal}


def _filled(workload: Workload) -> tuple[Run, Blocks]:
    """A run whose windows are full, or with half of the rows if there are fewer, and what comes next."""
    blocks, run = blocks_of(workload, FILL), workload.query().local(threads=1)
    per_second = SECOND // (workload.tables["A"]["ts"][1].value - workload.tables["A"]["ts"][0].value)
    full = per_second * workload.window_us // SECOND // FILL * len(workload.tables)
    stop = min(full, len(blocks) // 2)
    for name, block in blocks[:stop]:
        run.push(name, block)
    return run, blocks[stop:]


def _cut(blocks: Blocks, size: int, most: int) -> Blocks:
    """Small blocks, a stream in turn, with times as they were."""
    names = list(dict.fromkeys(name for name, _ in blocks))
    cut = {
        name: [block.slice(at, size) for each, block in blocks if each == name for at in range(0, len(block), size)]
        for name in names
    }
    turns = zip(*cut.values(), strict=False)
    return [pushed for together in turns for pushed in zip(names, together, strict=True)][:most]


def _push_us(run: Run, name: str, block: Any) -> float:
    began = time.perf_counter_ns()
    run.push(name, block)
    return (time.perf_counter_ns() - began) / 1_000


def _calls(run: Run, blocks: Blocks) -> int:
    """Calls of functions per push, those of C and of compiled loops as well."""
    profile = cProfile.Profile()
    profile.enable()
    for name, block in blocks:
        run.push(name, block)
    profile.disable()
    calls: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return round(calls / len(blocks))
