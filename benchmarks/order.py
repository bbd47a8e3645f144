"""What order costs: sync, hold and adaptive as shares of the speed without order, the second stream lagging by 300 ms.

The rows must be the same in every mode, and in order where order was asked for.
"""

from typing import Any

from benchmarks.files import inputs
from benchmarks.limit_threads import limit_arrow
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline
from benchmarks.pushing import Blocks, blocks_of, checked, in_order, part_seconds
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.turns import measure_in_turns
from benchmarks.workloads import Workload, equi

ORDERS = ("none", "sync", "hold", "adaptive")
BLOCKS = (1_000, 10_000, 100_000)
LAG_US = 300_000


def run(settings: Settings) -> Report:
    """Embedded for three block sizes, then on Spark."""
    limit_arrow()
    workload = equi(settings.size(1_000_000, 100_000), lag_us=LAG_US)
    expected = OfflineJoin(workload).sum()
    cut = {size: blocks_of(workload, size) for size in BLOCKS}
    pairs = [(workload.query(order=order), blocks) for order in ORDERS for blocks in cut.values()]
    equal = all(checked(query, blocks, workload.checked) == expected for query, blocks in pairs)
    ordered = all(in_order(workload.query(order=order), cut[BLOCKS[0]]) for order in ORDERS[1:])
    speeds = {str(size): _speeds(workload, blocks, settings.choose(15, 1)) for size, blocks in cut.items()}
    speeds["Spark"], two_buckets, spark_equal = _on_spark(settings)
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected.rows, "results_ordered": ordered}
    fields |= {"results_equal": equal and ordered and spark_equal, "rows_per_s": speeds}
    ratios = {where: {o: round(found[o] / found["none"], 3) for o in ORDERS[1:]} for where, found in speeds.items()}
    fields |= {"vs_none": ratios, "hold_in_two_buckets": two_buckets}
    lines = [(where, *found.values(), *ratios[where].values()) for where, found in speeds.items()]
    header = ("rows per push", *(f"{order}, rows/s" for order in ORDERS), *(f"{order} / none" for order in ORDERS[1:]))
    return Report("Order: speed with it as a share of speed without it", header, lines, fields)


def _speeds(workload: Workload, blocks: Blocks, repeats: int) -> dict[str, float]:
    """By CPU time, in turns, of each part the fastest try: a slow moment of the machine meets none of them alone."""
    tries = [[part_seconds(workload.query(order=order), blocks) for order in ORDERS] for _ in range(repeats)]
    best = {
        order: sum(map(min, zip(*of_order, strict=True)))
        for order, of_order in zip(ORDERS, zip(*tries, strict=True), strict=True)
    }
    return {order: round(workload.rows / took) for order, took in best.items()}


def _on_spark(settings: Settings) -> tuple[dict[str, float], float, bool]:
    """The same on Spark; rows at the end make everything before them come out.

    Beside it the share of ``hold`` in two buckets, whose rows are merged.
    """
    workload = equi(settings.size(5_000_000, 60_000), zone="UTC", lag_us=LAG_US)
    with inputs(workload, settings.choose(1_000_000, 40_000), closing=True) as folder:
        pipelines = {order: Pipeline("dovetail", options={"order": order}) for order in ORDERS}
        pipelines["two"] = Pipeline("dovetail", options={"order": "hold", "partitions": 2})
        runs = measure_in_turns(pipelines, workload, folder, settings.choose(3, 0))
    expected = OfflineJoin(workload).sum()
    equal = all(found.sum == expected for found in runs.values())
    two_buckets = round(runs["two"].rows_per_s / runs["none"].rows_per_s, 3)
    return {order: round(runs[order].rows_per_s) for order in ORDERS}, two_buckets, equal
