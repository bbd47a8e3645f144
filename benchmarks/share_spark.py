"""The benchmark ``share`` on Spark: one shared pipeline beside N of Spark's own joins in one streaming query.

Spark's joins keep their state in memory, by far the faster of its two ways.
"""

import tempfile
import time
from functools import reduce
from pathlib import Path
from typing import Any

import dovetail as dv
from benchmarks.alone import alone
from benchmarks.checksum import Sum, spark_hash
from benchmarks.files import inputs
from benchmarks.peer_spark import Pipeline
from benchmarks.settings import Settings
from benchmarks.share_queries import CHECKED, SELECT, TIMES, condition, queries, windows
from benchmarks.spark_runs import CORES
from benchmarks.workloads import Workload, equi

COUNTS = (1, 10)
KINDS = ("shared", "native")

Counted = tuple[float, dict[str, Sum]]


def on_spark(settings: Settings) -> dict[str, Any]:
    """Seconds for the same files, shared and as Spark's own joins, and whether every query got the same rows."""
    workload = equi(settings.size(500_000, 20_000), zone="UTC")
    counts = COUNTS if not settings.quick else COUNTS[:1]
    with inputs(workload, settings.choose(250_000, 20_000)) as folder:
        found = {kind: {n: alone(_run, kind, workload.bare(), folder, n) for n in counts} for kind in KINDS}
    ours, native = found["shared"], found["native"]
    return {
        "equal": all(ours[n][1] == native[n][1] for n in counts),
        "rows": workload.rows,
        "shared_s": {n: round(ours[n][0], 2) for n in counts},
        "spark_joins_s": {n: round(native[n][0], 2) for n in counts},
        "vs_spark": {n: round(native[n][0] / ours[n][0], 3) for n in counts},
    }


def _run(kind: str, workload: Workload, folder: Path, count: int) -> Counted:
    from dovetail.runtime.spark.session import spark_session
    from dovetail.runtime.spark.types import spark_schema

    session = spark_session(CORES, name="share", settings=Pipeline("native", rocksdb=kind == "shared").settings)
    reading = {
        name: session.readStream.schema(spark_schema(table.schema)).option("maxFilesPerTrigger", 2)
        for name, table in workload.tables.items()
    }
    frames = {name: each.parquet(str(folder / name)) for name, each in reading.items()}
    frame = dv.share(*queries(workload, count, frames)).spark() if kind == "shared" else _native(frames, count)
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as checkpoint:
        counted = _counted(frame, checkpoint)
    session.stop()
    return counted


def _native(frames: dict[str, Any], count: int) -> Any:
    """Spark's own joins, one per query."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F  # noqa: N812

    joined = []
    for at, window in enumerate(windows(count)):
        a, b = (frames[name].withWatermark("ts", "0 seconds").alias(name) for name in "AB")
        near = f"A.ts >= B.ts - INTERVAL {window} MICROSECONDS AND A.ts <= B.ts + INTERVAL {window} MICROSECONDS"
        own = condition(at)
        both = (a.where(own) if own else a).join(b, F.expr(f"A.k = B.k AND {near}"))
        joined.append(both.selectExpr(f"'q{at}' AS query", *SELECT))
    return reduce(DataFrame.union, joined)


def _counted(frame: Any, checkpoint: str) -> Counted:
    """Seconds from start to end, and count and checksum per query."""
    found: dict[str, Sum] = {}

    def count(batch: Any, number: int) -> None:
        hashed = batch.selectExpr("query", f"{spark_hash(CHECKED, TIMES)} AS hash")
        for row in hashed.groupBy("query").agg({"*": "count", "hash": "sum"}).collect():
            found[row["query"]] = found.get(row["query"], Sum()) + Sum(row["count(1)"], row["sum(hash)"])

    writing = frame.writeStream.foreachBatch(count).option("checkpointLocation", checkpoint)
    started = time.perf_counter()
    writing.trigger(availableNow=True).start().awaitTermination()
    return time.perf_counter() - started, found
