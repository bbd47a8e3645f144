"""Dovetail on Spark beside Spark's own join and the floor, all over the same files in one run.

Dovetail and the floors take turns batch by batch: what the machine does in between would count for as much as they
differ. The floor is Spark's, with its own settings: what Dovetail's do for handing rows over is Dovetail's doing. With
them the same hand-over is ``tuned_floor``. Spark's join, which has other settings and is several times slower, runs
after them.
"""

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
IN_TURNS = {
    "dovetail": Pipeline("dovetail"),
    "transport_floor": Pipeline("floor", plain=True),
    "one_way_floor": Pipeline("one way", plain=True),
    "tuned_floor": Pipeline("floor"),
}
ROUNDS = 4
NATIVE = Pipeline("native", rocksdb=False)
ROCKSDB = Pipeline("native", rocksdb=True)


def compare(title: str, workload: Workload, small: Workload, settings: Settings) -> Report:
    """``small`` is what Spark's join with RocksDB gets: it is too slow for more; its batches are smaller as well."""
    offline, offline_small = OfflineJoin(workload).sum(), OfflineJoin(small).sum()
    warm_s = settings.choose(WARM_S, 0)
    with inputs(workload, settings.choose(BATCH, 40_000)) as folder:
        runs = measure_in_turns(IN_TURNS, workload, folder, settings.choose(ROUNDS, 0))
        runs["spark_native"] = measure(NATIVE, workload, folder, warm_s)
    with inputs(small, settings.choose(SMALL_BATCH, 10_000)) as folder:
        runs["spark_rocksdb"] = measure(ROCKSDB, small, folder, warm_s)
    equal = all(runs[name].sum == offline for name in ("dovetail", "spark_native"))
    equal = equal and runs["spark_rocksdb"].sum == offline_small
    fields: dict[str, Any] = {"rows": workload.rows, "results": offline.rows, "results_equal": equal}
    fields |= {"sums": {name: [found.sum.rows, found.sum.total] for name, found in runs.items()}}
    fields |= {f"{name}_rows_per_s": round(found.rows_per_s) for name, found in runs.items()} | _ratios(runs)
    ours = runs["dovetail"].rows_per_s
    lines = [(name, len(found.batches), found.rows_per_s, ours / found.rows_per_s) for name, found in runs.items()]
    return Report(title, ("pipeline", "batches", "rows/s, steady state", "Dovetail is ... times this"), lines, fields)


def _ratios(runs: dict[str, Measured]) -> dict[str, float]:
    ours = runs["dovetail"].rows_per_s
    peers = {"vs_native": "spark_native", "vs_rocksdb": "spark_rocksdb", "vs_floor": "transport_floor"}
    peers |= {"vs_one_way_floor": "one_way_floor", "vs_tuned_floor": "tuned_floor"}
    return {ratio: round(ours / runs[peer].rows_per_s, 3) for ratio, peer in peers.items()}
