"""The price of a micro-batch of 20,000 rows, and how long a row waits from its arrival to its result.

    price     all files lie there; the median time of a batch, steady state
    wait      a batch's files arrive every two seconds while the query runs; every row carries when it came, and a
              result is there when the batch that made it has ended (the first two start workers and do not count)

Dovetail over files that it reads and writes itself, over DataFrames, and Spark's own join, in the same run. A result's
arrival is that of its member that came last.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.alone import alone
from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline, started
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import WARM_S, Measured, account, measure, session_for
from benchmarks.workloads import Workload, equi

BATCH, EVERY_S, WARM_UP = 20_000, 2.0, 2
PIPELINES = {
    "dovetail": Pipeline("files"),
    "dataframes": Pipeline("dovetail"),
    "spark_native": Pipeline("native", rocksdb=False),
}


def run(settings: Settings) -> Report:
    """Prices first, then waits."""
    batches = settings.choose(30, 6)
    workload = equi(settings.rows or batches * BATCH // 2, "UTC")
    expected = OfflineJoin(workload).sum()
    warm_s = settings.choose(WARM_S, 0)
    with inputs(workload, BATCH) as folder:
        prices = {name: measure(pipeline, workload, folder, warm_s) for name, pipeline in PIPELINES.items()}
    waits = {name: wait(pipeline, with_arrivals(workload)) for name, pipeline in PIPELINES.items()}
    equal = all(found.sum == expected for found in (*prices.values(), *waits.values()))
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected.rows, "results_equal": equal}
    fields["sums"] = {name: [prices[name].sum.rows, waits[name].sum.rows] for name in PIPELINES}
    for name in PIPELINES:
        fields[f"{name}_batch_s"] = prices[name].batch_seconds
        fields[f"{name}_wait_s"], fields[f"{name}_longest_wait_s"] = seconds_to_result(waits[name])
    fields["vs_native"] = round(fields["spark_native_batch_s"] / fields["dovetail_batch_s"], 3)
    fields["dataframes_vs_native"] = round(fields["spark_native_batch_s"] / fields["dataframes_batch_s"], 3)
    lines = [(n, *(fields[f"{n}_{what}_s"] for what in ("batch", "wait", "longest_wait"))) for n in PIPELINES]
    header = ("pipeline", "seconds per batch", "arrival to result, s", "longest, s")
    return Report(f"Latency at {BATCH:,} rows per batch", header, lines, fields)


def with_arrivals(workload: Workload) -> Workload:
    """The same with a column that says when a row came, filled in when it does, in microseconds since 1970."""
    tables = {
        name: table.append_column("arrived", pa.nulls(table.num_rows, pa.int64()))
        for name, table in workload.tables.items()
    }
    return replace(workload, tables=tables, select=(*workload.select, "greatest(A.arrived, B.arrived) AS arrived"))


def seconds_to_result(found: Measured) -> tuple[float, float]:
    """Median over the steady batches of the mean wait, and the longest."""
    told = [batch for batch in found.steady if batch.observed.get("mean") is not None]
    means = [batch.ended - batch.observed["mean"] / 1e6 for batch in told]
    longest = [batch.ended - batch.observed["first"] / 1e6 for batch in told]
    return round(median(means), 3), round(max(longest), 3)


def wait(pipeline: Pipeline, workload: Workload) -> Measured:
    """Run a pipeline while its files arrive, in another process."""
    print(f"{workload.name}: {pipeline}, files arriving ...", file=sys.stderr, flush=True)
    return alone(_wait, replace(pipeline, arrivals=True), workload)


def _wait(pipeline: Pipeline, workload: Workload) -> Measured:
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as place, session_for(pipeline) as session:
        folder = Path(place)
        for name in workload.tables:
            (folder / name).mkdir()
        query = started(pipeline, session, workload, folder, folder / "checkpoint")
        for number, due in enumerate(_feed(workload, folder)):
            if number < WARM_UP:
                query.processAllAvailable()
            time.sleep(max(0.0, due - time.monotonic()))
        query.processAllAvailable()
        query.stop()
        return account(query, pipeline, workload, folder / "checkpoint")


def _feed(workload: Workload, folder: Path) -> Iterator[float]:
    """Let the files of one batch after the other arrive; gives the time when the next are due."""
    size = BATCH // len(workload.tables)
    longest = max(table.num_rows for table in workload.tables.values())
    for number, at in enumerate(range(0, longest, size)):
        due = time.monotonic() + EVERY_S
        for name, table in workload.tables.items():
            _arrive(table.slice(at, size), folder / name / f"{number:05}.parquet")
        yield due


def _arrive(rows: pa.Table, file: Path) -> None:
    """Spark sees a file once it has its name."""
    now = pa.array([int(time.time() * 1e6)] * rows.num_rows, pa.int64())
    hidden = file.with_name(f".{file.name}")
    pq.write_table(rows.set_column(rows.schema.get_field_index("arrived"), "arrived", now), hidden)
    hidden.rename(file)
