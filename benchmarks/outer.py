"""Left outer joins on Spark against Spark's own: equal rows, matched and unmatched, then speed.

``outer`` joins two streams, ``outer3`` three: Dovetail in one operator, Spark by two of its joins in a row. A third of
the keys of A never occur in B. Rows at the end make everything before them come out; they are not compared.
``dovetail`` reads files and writes results itself; ``dataframes`` has Spark read them, and drops its results.
"""

from typing import Any

from benchmarks.checksum import Sum
from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import WARM_S, measure
from benchmarks.workloads import Workload, left

PIPELINES = {
    "dovetail": Pipeline("files"),
    "dataframes": Pipeline("dovetail"),
    "spark_native": Pipeline("native", rocksdb=False),
}


def run(settings: Settings) -> Report:
    """Two streams."""
    return compare("Left outer join on Spark", left(settings.size(2_000_000, 60_000)), settings)


def compare(title: str, workload: Workload, settings: Settings) -> Report:
    """Both pipelines over the same files."""
    expected = OfflineJoin(workload).sum()
    warm_s = settings.choose(WARM_S, 0)
    with inputs(workload, settings.choose(1_000_000, 40_000), closing=True) as folder:
        runs = {name: measure(pipeline, workload, folder, warm_s) for name, pipeline in PIPELINES.items()}
    sums: dict[str, Sum] = {name: found.sum for name, found in runs.items()}
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected.rows}
    fields["results_equal"] = all(found == expected for found in sums.values())
    fields["sums"] = {name: [found.rows, found.total] for name, found in {"expected": expected, **sums}.items()}
    speeds = {name: found.rows_per_s for name, found in runs.items()}
    fields |= {f"{name}_rows_per_s": round(speed) for name, speed in speeds.items()}
    for of, name in (("", "dovetail"), ("dataframes_", "dataframes")):
        fields[f"{of}vs_native"] = round(speeds[name] / speeds["spark_native"], 3)
    lines = [(name, found.rows, speeds[name], speeds["dovetail"] / speeds[name]) for name, found in sums.items()]
    header = ("pipeline", "results", "rows/s, steady state", "Dovetail is ... times this")
    return Report(title, header, lines, fields)
