"""Dovetail on Spark beside Spark's own join and the floor, all over the same files in one run.

``dovetail`` reads files and writes results itself; ``dataframes`` has Spark read them, and drops its results. Both take
turns batch by batch with the floors: what the machine does in between would count for as much as they differ. The floor
is Spark's, with its own settings: what Dovetail's do for handing rows over is Dovetail's doing. With them the same
hand-over is ``tuned_floor``. Spark's join, which has other settings and is several times slower, runs after them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import WARM_S, Measured, measure
from benchmarks.turns import measure_in_turns
from benchmarks.workloads import Workload

BATCH, SMALL_BATCH = 1_000_000, 100_000
FILES, DATAFRAMES = Pipeline("files"), Pipeline("dovetail")
IN_TURNS = {
    "dovetail": FILES,
    "dataframes": DATAFRAMES,
    "transport_floor": Pipeline("floor", plain=True),
    "one_way_floor": Pipeline("one way", plain=True),
    "tuned_floor": Pipeline("floor"),
}
ROUNDS = 4
CURVE_BATCHES = 24  # of each size, half of them steady
NATIVE = Pipeline("native", rocksdb=False)
ROCKSDB = Pipeline("native", rocksdb=True)


def compare(title: str, workload: Workload, small: Workload, settings: Settings) -> Report:
    """``small`` is what Spark's join with RocksDB gets: it is too slow for more; its batches are smaller as well."""
    expected = dict.fromkeys(("dovetail", "dataframes", "spark_native"), OfflineJoin(workload).sum())
    expected["spark_rocksdb"] = OfflineJoin(small).sum()
    warm_s = settings.choose(WARM_S, 0)
    with inputs(workload, settings.choose(BATCH, 40_000)) as folder:
        runs = measure_in_turns(IN_TURNS, workload, folder, settings.choose(ROUNDS, 0))
        runs["spark_native"] = measure(NATIVE, workload, folder, warm_s)
    with inputs(small, settings.choose(SMALL_BATCH, 10_000)) as folder:
        runs["spark_rocksdb"] = measure(ROCKSDB, small, folder, warm_s)
    equal = all(runs[name].sum == total for name, total in expected.items())
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected["dovetail"].rows, "results_equal": equal}
    fields |= {"sums": {name: [found.sum.rows, found.sum.total] for name, found in runs.items()}}
    fields |= {f"{name}_rows_per_s": round(found.rows_per_s) for name, found in runs.items()} | _ratios(runs)
    ours = runs["dovetail"].rows_per_s
    lines = [(name, len(found.batches), found.rows_per_s, ours / found.rows_per_s) for name, found in runs.items()]
    return Report(title, ("pipeline", "batches", "rows/s, steady state", "Dovetail is ... times this"), lines, fields)


def with_curve(report: Report, workload: Workload, sizes: Sequence[int]) -> Report:
    """The same with the speed at other sizes of batches, results equal at each."""
    curve, lines, equal = {}, [], report.valid
    for size in sizes:
        longest = min(len(table) for table in workload.tables.values())
        rows = min(longest, CURVE_BATCHES * size // len(workload.tables))
        part = replace(workload, tables={name: table.slice(0, rows) for name, table in workload.tables.items()})
        with inputs(part, size) as folder:
            found = measure(FILES, part, folder)
        equal = equal and found.sum == OfflineJoin(part).sum()
        curve[str(size)] = round(found.rows_per_s)
        lines.append((f"dovetail, batches of {size:,}", len(found.batches), found.rows_per_s, None))
    fields = {**report.fields, "results_equal": equal, "curve_rows_per_s": curve}
    return replace(report, rows=[*report.rows, *lines], fields=fields)


def _ratios(runs: dict[str, Measured]) -> dict[str, float]:
    peers = {"vs_native": "spark_native", "vs_rocksdb": "spark_rocksdb", "vs_floor": "transport_floor"}
    peers |= {"vs_one_way_floor": "one_way_floor", "vs_tuned_floor": "tuned_floor"}
    ours = {"": runs["dovetail"].rows_per_s, "dataframes_": runs["dataframes"].rows_per_s}
    pairs = [(f"{of}{ratio}", own / runs[peer].rows_per_s) for of, own in ours.items() for ratio, peer in peers.items()]
    return {name: round(ratio, 3) for name, ratio in pairs}
