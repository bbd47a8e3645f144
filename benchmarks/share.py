"""Many queries over the same streams: one shared operator, as many separate runs, and Spark running as many joins.

First every query's rows are compared, by count and checksum, on a tenth of the input: shared, alone, and on Spark. Then
the time of all pushes: N queries as one operator, and one after the other by themselves. Of a thousand separate runs
every tenth is made, and the time of all is ten times theirs.
"""

import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import dovetail as dv
from benchmarks.checksum import Sum, sum_of_all
from benchmarks.limit_threads import limit_arrow
from benchmarks.pushing import Blocks, blocks_of
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.share_queries import CHECKED, queries, sums_of
from benchmarks.share_spark import on_spark
from benchmarks.workloads import Workload, equi

COUNTS, QUICK = (1, 10, 100, 1000), (1, 10, 100)
SEPARATE = 100
BLOCK, REPEATS = 10_000, 3


def run(settings: Settings) -> Report:
    """Equality first; then embedded, then Spark."""
    limit_arrow()
    rows, counts = settings.size(1_000_000, 40_000), QUICK if settings.quick else COUNTS
    equal = all(_equal(equi(max(rows // 10, 10_000)), n) for n in counts)
    spark = on_spark(settings)
    fields: dict[str, Any] = {"rows": 2 * rows, "results_equal": equal and spark.pop("equal")}
    if not fields["results_equal"]:
        return Report("Share: N queries, one operator", (), (), fields)
    workload = equi(rows)
    blocks = blocks_of(workload, BLOCK)
    shared = {n: _shared(workload, blocks, n) for n in counts}
    separate = {n: _separate(workload, blocks, n) for n in counts}
    cost = {n: round(spent / shared[1][0], 3) for n, (spent, _) in shared.items()}
    fields |= {
        "results": {n: found for n, (_, found) in shared.items()},
        "shared_rows_per_s": {n: round(workload.rows / spent) for n, (spent, _) in shared.items()},
        "separate_rows_per_s": {n: round(workload.rows / spent) for n, spent in separate.items()},
        "cost_of_n_over_one": cost,
        "cost_of_100": cost[100],
        "separate_over_shared": {n: round(separate[n] / shared[n][0], 2) for n in counts},
        "spark": spark,
    }
    lines = [
        (n, workload.rows / spent, cost[n], separate[n] / spent, found, _spark_line(spark, n))
        for n, (spent, found) in shared.items()
    ]
    header = ("queries", "shared, rows/s", "times the cost of one", "separate runs, times this", "results", "on Spark")
    return Report("Share: N queries, one operator", header, lines, fields)


def _spark_line(spark: dict[str, Any], n: int) -> str | None:
    if n not in spark["shared_s"]:
        return None
    return f"{spark['shared_s'][n]:.1f} s, Spark's own joins {spark['spark_joins_s'][n]:.1f} s"


def _equal(workload: Workload, count: int) -> bool:
    """Whether every query (of a thousand, every tenth) got the rows that it gets alone."""
    blocks, every = blocks_of(workload, BLOCK), queries(workload, count)
    run = dv.share(*every).local()
    together = sums_of([run.push(name, block) for name, block in blocks])
    return all(together.get(str(query.name), Sum()) == _sum_alone(query, blocks) for query in _sample(every))


def _sum_alone(query: dv.Query, blocks: Blocks) -> Sum:
    run = query.local(threads=1)
    return sum_of_all((run.push(name, block) for name, block in blocks), CHECKED)


def _sample(every: Sequence[dv.Query]) -> Sequence[dv.Query]:
    return every[:: max(1, len(every) // SEPARATE)]


def _shared(workload: Workload, blocks: Blocks, count: int) -> tuple[float, int]:
    """The best time of some, and how many results there are."""
    shared = dv.share(*queries(workload, count))
    return min(_timed([shared.local()], blocks) for _ in range(REPEATS if count <= SEPARATE else 1))


def _separate(workload: Workload, blocks: Blocks, count: int) -> float:
    sample = _sample(queries(workload, count))
    return _timed([query.local(threads=1) for query in sample], blocks)[0] * count / len(sample)


def _timed(runs: Sequence[Any], blocks: Blocks) -> tuple[float, int]:
    """Seconds for all pushes into all runs, and how many results they gave."""
    started, rows = time.perf_counter(), 0
    for run in runs:
        rows += sum(_rows(run.push(name, block)) for name, block in blocks)
    return time.perf_counter() - started, rows


def _rows(results: pa.Table) -> int:
    return int(results.num_rows)
