"""From the start of a query to its first result, on Spark: Dovetail, and Spark's own join.

    cold      the first query of a new session; process: the same, counted from the start of Python
    warm      the same query once more in that session, from a new checkpoint

A result is there when the batch that made it has ended. A batch has 20,000 rows.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.alone import alone
from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline, started
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import account, session_for
from benchmarks.workloads import Workload, equi

BATCH = 20_000
PIPELINES = {
    "dovetail": Pipeline("files"),
    "dataframes": Pipeline("dovetail"),
    "spark_native": Pipeline("native", rocksdb=False),
}
MOMENTS = ("process", "cold", "warm")


def run(settings: Settings) -> Report:
    """One batch for each pipeline, cold and warm."""
    workload = equi(settings.rows or BATCH // 2, "UTC")
    expected = OfflineJoin(workload).sum()
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected.rows, "results_equal": True, "sums": {}}
    with inputs(workload, BATCH) as folder:
        for name, pipeline in PIPELINES.items():
            print(f"{workload.name}: {pipeline}, started ...", file=sys.stderr, flush=True)
            seconds, sums = alone(_starts, pipeline, workload.bare(), folder, time.time())
            fields["results_equal"] = fields["results_equal"] and all(found == expected for found in sums)
            fields["sums"][name] = [found.rows for found in sums]
            fields |= {f"{name}_{moment}_s": round(seconds[moment], 2) for moment in MOMENTS}
    lines = [(name, *(fields[f"{name}_{moment}_s"] for moment in MOMENTS)) for name in PIPELINES]
    header = ("pipeline", "from the start of Python, s", "from start(), cold, s", "warm, s")
    return Report("Time to the first result on Spark", header, lines, fields)


def _starts(pipeline: Pipeline, workload: Workload, folder: Path, began: float) -> tuple[dict[str, float], list[Any]]:
    seconds, sums = {}, []
    with session_for(pipeline) as session:
        for moment in ("cold", "warm"):
            with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as place:
                asked = time.time()
                query = started(pipeline, session, workload, folder, Path(place))
                while not any(progress.numInputRows for progress in query.recentProgress):
                    if not query.isActive:
                        raise RuntimeError(str(query.exception()))
                    time.sleep(0.01)
                seconds[moment] = time.time() - asked
                seconds.setdefault("process", time.time() - began)
                query.processAllAvailable()
                query.stop()
                sums.append(account(query, pipeline, workload, Path(place)).sum)
    return seconds, sums
