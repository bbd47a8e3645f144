"""The embedded engine on one thread, or more if asked, block by block, against DuckDB's join of whole tables on two.

``vs_duckdb`` compares with DuckDB giving the same columns as Arrow, as the engine does, by the faster of its two ways
(one table, or a reader whose batches are dropped); ``vs_duckdb_count`` with DuckDB only counting. With ``--threads 2``
the same pushes also run on two threads, in turns: ``threads`` has their speeds and ratios, ``threads_2`` how many times
the speed of one thread ``equi`` has at the largest pushes.
"""

from typing import Any

from benchmarks.limit_threads import limit_arrow
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.pushing import blocks_of, checked, seconds
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import Workload, band, equi, equi3, equi_wide

BLOCKS = (1_000, 10_000, 100_000)


def run(settings: Settings) -> Report:
    """All four workloads; ``equi`` at the top of the fields."""
    limit_arrow()
    rows = settings.size(5_000_000, 200_000)
    few, many = settings.choose(4, 1), settings.choose(15, 1)  # of short runs more: some meet a quiet moment
    measured = {
        "equi": compare(equi(rows), few, settings.threads),
        "equi3": compare(equi3(rows), few, settings.threads),
        "band": compare(band(rows // 10), many, settings.threads),
        "equi-wide": compare(equi_wide(rows), few, settings.threads),
    }
    fields = {**measured["equi"], "workloads": {name: found for name, found in measured.items() if name != "equi"}}
    if settings.threads > 1 and "threads" in fields:
        fields[f"threads_{settings.threads}"] = fields["threads"]["vs_one"][str(BLOCKS[-1])]
    fields["results_equal"] = all(found["results_equal"] for found in measured.values())
    header = (
        "workload",
        "rows/push",
        "Dovetail rows/s",
        "DuckDB rows/s",
        "times DuckDB",
        "DuckDB count",
        "times count",
    )
    lines = [line for name, found in measured.items() for line in _lines(name, found)]
    return Report("Embedded: one thread, against DuckDB offline on two", header, lines, fields)


def compare(workload: Workload, repeats: int, threads: int = 1) -> dict[str, Any]:
    """One workload: results first, then speeds, on one thread and on as many as asked."""
    offline, query = OfflineJoin(workload), workload.query()
    expected = offline.sum()
    cut = {size: blocks_of(workload, size) for size in BLOCKS}
    counts = sorted({1, threads})
    equal = all(
        checked(query, blocks, workload.checked, count) == expected for blocks in cut.values() for count in counts
    )
    fields = {"rows": workload.rows, "results": expected.rows, "results_equal": equal}
    if not equal:
        return fields
    ours: dict[int, dict[str, float]] = {count: {} for count in counts}
    theirs: dict[str, float] = {}
    for _ in range(repeats):  # in turns, so that a slow moment of the machine does not meet one of them alone
        for size, blocks in cut.items():
            for count, best in ours.items():
                best |= _best(best, {str(size): seconds(query, blocks, 1, count)[0]})
        theirs = _best(theirs, offline.seconds(1))
    speeds = {count: {size: workload.rows / best for size, best in bests.items()} for count, bests in ours.items()}
    return fields | _speeds(workload, speeds[1], theirs) | _threads(workload, speeds, theirs, threads)


def _threads(
    workload: Workload, speeds: dict[int, dict[str, float]], theirs: dict[str, float], threads: int
) -> dict[str, Any]:
    """Speeds on several threads, beside one and beside DuckDB."""
    if threads == 1:
        return {}
    found = _speeds(workload, speeds[threads], theirs)
    kept = {name: found[name] for name in ("dovetail_rows_per_s", "vs_duckdb")}
    one = {size: round(speed / speeds[1][size], 3) for size, speed in speeds[threads].items()}
    return {"threads": {"number": threads, **kept, "vs_one": one}}


def _best(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    return {name: min(time, before.get(name, time)) for name, time in now.items()}


def _speeds(workload: Workload, ours: dict[str, float], theirs: dict[str, float]) -> dict[str, Any]:
    faster = min(("table", "reader"), key=lambda way: theirs[way])
    arrow, count = workload.rows / theirs[faster], workload.rows / theirs["count"]
    return {
        "dovetail_rows_per_s": {size: round(speed) for size, speed in ours.items()},
        "duckdb_rows_per_s": round(arrow),
        "duckdb_way": f"Arrow {faster}",
        "duckdb_count_rows_per_s": round(count),
        "vs_duckdb": {size: round(speed / arrow, 3) for size, speed in ours.items()},
        "vs_duckdb_count": {size: round(speed / count, 3) for size, speed in ours.items()},
    }


def _lines(name: str, found: dict[str, Any]) -> list[tuple[object, ...]]:
    if not found["results_equal"]:
        return []
    peers = found["duckdb_rows_per_s"], found["duckdb_count_rows_per_s"]
    return [
        (name, size, speed, peers[0], found["vs_duckdb"][size], peers[1], found["vs_duckdb_count"][size])
        for size, speed in found["dovetail_rows_per_s"].items()
    ]
