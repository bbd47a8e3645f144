"""Many queries over the same streams: one shared operator, as many separate runs, and Spark running as many joins.

Windows are 1 to 100 ms, the first query's the largest, so that outputs are small: a hundredth of a row per input row
and query at most. Embedded, all N share one operator or run one after the other (up to 100); on Spark, one shared
pipeline beside N of Spark's own joins in one streaming query (up to 10).
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dovetail as dv
from benchmarks.alone import alone
from benchmarks.files import inputs
from benchmarks.limit_threads import limit_arrow
from benchmarks.pushing import Blocks, blocks_of
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import CORES
from benchmarks.workloads import SECOND, Workload, equi

COUNTS, SEPARATE, ON_SPARK = (1, 10, 100, 1000), 100, (1, 10)
BLOCK = 10_000
SELECT = "A.k, A.ts AS a_ts, B.ts AS b_ts"


def run(settings: Settings) -> Report:
    """Embedded, then on Spark."""
    limit_arrow()
    workload = equi(settings.size(1_000_000, 40_000))
    blocks, counts = blocks_of(workload, BLOCK), COUNTS if not settings.quick else COUNTS[:3]
    separate = {n: _separate(workload, blocks, n) for n in counts if n <= settings.choose(SEPARATE, 10)}
    shared = {n: _shared(workload, blocks, n) for n in counts}
    spark = _on_spark(settings)
    equal = all(shared[n][1] == rows for n, (_, rows) in separate.items()) and spark.pop("equal")
    one = shared[1][0]
    fields: dict[str, Any] = {
        "rows": workload.rows,
        "results": {n: rows for n, (_, rows) in shared.items()},
        "results_equal": equal,
        "shared_rows_per_s": {n: round(workload.rows / spent) for n, (spent, _) in shared.items()},
        "separate_rows_per_s": {n: round(workload.rows / spent) for n, (spent, _) in separate.items()},
        "cost_of_n_over_one": {n: round(spent / one, 3) for n, (spent, _) in shared.items()},
        "spark": spark,
    }
    lines = [
        (n, workload.rows / spent, spent / one, separate[n][0] / spent if n in separate else None, rows)
        for n, (spent, rows) in shared.items()
    ]
    header = ("queries", "shared, rows/s", "cost of one query, times", "separate runs cost ... times this", "results")
    return Report("Share: N queries, one operator", header, lines, fields)


def queries(workload: Workload, count: int, data: dict[str, Any] | None = None) -> list[dv.Query]:
    """Windows spread over two orders of magnitude."""
    inputs = {name: {"data": data[name]} if data else {"schema": t.schema} for name, t in workload.tables.items()}
    streams = [dv.stream(name, time="ts", **given) for name, given in inputs.items()]
    made = []
    for at, window in enumerate(windows(count)):
        query = dv.join(*streams, on=workload.on, select=SELECT, window=f"{window} microseconds")
        made.append(query.named(f"q{at}"))
    return made


def windows(count: int) -> list[int]:
    """Microseconds."""
    return [SECOND // 1000 * (100 - at % 100) for at in range(count)]


def _shared(workload: Workload, blocks: Blocks, count: int) -> tuple[float, int]:
    run = dv.share(*queries(workload, count)).local()
    return _timed([run], blocks)


def _separate(workload: Workload, blocks: Blocks, count: int) -> tuple[float, int]:
    return _timed([query.local() for query in queries(workload, count)], blocks)


def _timed(runs: Sequence[Any], blocks: Blocks) -> tuple[float, int]:
    """Seconds for all pushes into all runs, and how many results they gave."""
    started, rows = time.perf_counter(), 0
    for run in runs:
        rows += sum(run.push(name, block).num_rows for name, block in blocks)
    return time.perf_counter() - started, rows


def _on_spark(settings: Settings) -> dict[str, Any]:
    """Seconds for the same files, shared and as Spark's own joins."""
    workload = equi(settings.size(1_000_000, 20_000), zone="UTC")
    counts = ON_SPARK if not settings.quick else ON_SPARK[:1]
    with inputs(workload, settings.choose(500_000, 20_000)) as folder:
        found = {kind: {n: alone(_spark_run, kind, workload.bare(), folder, n) for n in counts} for kind in _KINDS}
    ours, native = found["dovetail"], found["native"]
    return {
        "equal": all(ours[n][1] == native[n][1] for n in counts),
        "rows": workload.rows,
        "shared_s": {n: round(ours[n][0], 2) for n in counts},
        "spark_joins_s": {n: round(native[n][0], 2) for n in counts},
        "vs_spark": {n: round(native[n][0] / ours[n][0], 3) for n in counts},
    }


_KINDS = ("dovetail", "native")


def _spark_run(kind: str, workload: Workload, folder: Path, count: int) -> tuple[float, int]:
    from dovetail.runtime.spark.session import spark_session
    from dovetail.runtime.spark.types import spark_schema

    session = spark_session(CORES, name="share", settings={"spark.driver.memory": "8g"})
    reading = {
        name: session.readStream.schema(spark_schema(table.schema)).option("maxFilesPerTrigger", 2)
        for name, table in workload.tables.items()
    }
    frames = {name: each.parquet(str(folder / name)) for name, each in reading.items()}
    shared = kind == "dovetail"
    frame = dv.share(*queries(workload, count, frames)).spark() if shared else _native(frames, count)
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as checkpoint:
        seconds, rows = _counted(frame, checkpoint)
    session.stop()
    return seconds, rows


def _native(frames: dict[str, Any], count: int) -> Any:
    """Spark's own joins, one per query, in one streaming query."""
    from functools import reduce

    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F  # noqa: N812

    joined = []
    for at, window in enumerate(windows(count)):
        a, b = (frames[name].withWatermark("ts", "0 seconds").alias(name) for name in "AB")
        near = f"A.ts >= B.ts - INTERVAL {window} MICROSECONDS AND A.ts <= B.ts + INTERVAL {window} MICROSECONDS"
        both = a.join(b, F.expr(f"A.k = B.k AND {near}"))
        joined.append(both.selectExpr(f"'q{at}' AS query", "A.k", "A.ts AS a_ts", "B.ts AS b_ts"))
    return reduce(DataFrame.union, joined)


def _counted(frame: Any, checkpoint: str) -> tuple[float, int]:
    rows: list[int] = []
    writing = frame.writeStream.foreachBatch(lambda batch, number: rows.append(batch.count()))
    started = time.perf_counter()
    writing.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
    return time.perf_counter() - started, sum(rows)
