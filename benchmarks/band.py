"""A band join on Spark, with 1, 2 and 4 buckets; Spark's own refuses it, having no equality to split the rows by."""

from typing import Any

from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import Measured, refusal
from benchmarks.turns import measure_in_turns
from benchmarks.workloads import Workload, band

BUCKETS = (1, 2, 4)


def run(settings: Settings) -> Report:
    """The same files for every number of buckets."""
    workload = band(settings.size(3_000_000, 40_000), "UTC")
    expected = OfflineJoin(workload).sum()
    with inputs(workload, settings.choose(1_000_000, 20_000)) as folder:
        refused = refusal(Pipeline("native", rocksdb=False), workload, folder)
        pipelines = {str(count): Pipeline("dovetail", options={"partitions": count}) for count in BUCKETS}
        runs = measure_in_turns(pipelines, workload, folder, settings.choose(3, 0))
    fields = _fields(workload, runs)
    fields |= {"results": expected.rows, "results_equal": all(found.sum == expected for found in runs.values())}
    fields["spark_native"] = refused
    speeds = {count: found.rows_per_s for count, found in runs.items()}
    lines: list[tuple[object, ...]] = [(count, speed, speed / speeds["1"]) for count, speed in speeds.items()]
    lines.append(("Spark's own join", refused, None))
    return Report("A band join on Spark", ("buckets", "rows/s, steady state", "times one bucket"), lines, fields)


def _fields(workload: Workload, runs: dict[str, Measured]) -> dict[str, Any]:
    speeds = {count: found.rows_per_s for count, found in runs.items()}
    return {
        "rows": workload.rows,
        "sums": {count: [found.sum.rows, found.sum.total] for count, found in runs.items()},
        "dovetail_rows_per_s": {count: round(speed) for count, speed in speeds.items()},
        "vs_one_bucket": {count: round(speed / speeds["1"], 3) for count, speed in speeds.items()},
    }
