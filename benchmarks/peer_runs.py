"""How each peer runs one workload: what it is given, and what came of it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv

from benchmarks.checksum import Sum
from benchmarks.files import inputs
from benchmarks.limit_threads import limit_arrow
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_flink import FLINK, flink_task
from benchmarks.peer_pathway import PATHWAY, pathway_task
from benchmarks.pushing import blocks_of, checked, seconds
from benchmarks.workloads import Workload

BATCHES, BLOCK, REPEATS = 8, 10_000, 2
LARGE = 200_000


@dataclass(frozen=True)
class Finding:
    """A speed with the sum of its results; or why there is none: the peer is absent, or it refused."""

    rows: int
    rows_per_s: float | None = None
    sum: Sum | None = None
    why: str = ""

    def fields(self) -> dict[str, Any]:
        """For the report."""
        if self.sum is None or self.rows_per_s is None:
            return {"rows": self.rows, "why": self.why}
        return {"rows": self.rows, "rows_per_s": round(self.rows_per_s), "sum": [self.sum.rows, self.sum.total]}


@dataclass(frozen=True)
class Inputs:
    """A workload in memory, as Parquet for Spark and as CSV for the others, and what must come out."""

    workload: Workload
    expected: Sum
    parquet: Path
    plain: Path

    @property
    def warm_s(self) -> float:
        """How long Spark's Java may warm up; not at all where only the results are looked at."""
        from benchmarks.spark_runs import WARM_S

        return WARM_S if self.workload.rows >= LARGE else 0.0

    @staticmethod
    @contextmanager
    def of(workload: Workload) -> "Iterator[Inputs]":
        """Files that are gone with the block."""
        expected = OfflineJoin(workload).sum()
        batch = max(workload.rows // BATCHES, 1_000)
        with inputs(workload, batch, closing=workload.how == "left") as parquet, tempfile.TemporaryDirectory() as plain:
            write_plain(workload, Path(plain))
            yield Inputs(workload, expected, parquet, Path(plain))


def write_plain(workload: Workload, folder: Path) -> None:
    """Two files per stream, rows in turns, so that two readers keep pace; times are microseconds.

    A copy without headers lies beside them: Flink reads none.
    """
    for name, table in workload.tables.items():
        numbered = table.set_column(0, "us", table["ts"].cast(pa.int64()))
        for headers in (True, False):
            place = folder / ("headed" if headers else "bare") / name
            place.mkdir(parents=True)
            for part in range(2):
                rows = pa.array(range(part, table.num_rows, 2))
                csv.write_csv(numbered.take(rows), place / f"{part}.csv", csv.WriteOptions(include_header=headers))


def dovetail_embedded(given: Inputs) -> Finding:
    """One thread, pushes of 10,000 rows."""
    limit_arrow()
    workload = given.workload
    query, blocks = workload.query(), blocks_of(workload, BLOCK)
    found = checked(query, blocks, workload.checked)
    return Finding(workload.rows, workload.rows / seconds(query, blocks, REPEATS)[0], found)


def duckdb_offline(given: Inputs) -> Finding:
    """The whole tables at once, loaded beforehand, results as Arrow by the faster of two ways."""
    offline = OfflineJoin(given.workload)
    spent = offline.seconds(REPEATS)
    return Finding(given.workload.rows, given.workload.rows / min(spent["table"], spent["reader"]), offline.sum())


def dovetail_spark(given: Inputs) -> Finding:
    """``query.spark()`` over the Parquet files, eight batches."""
    from benchmarks.peer_spark import Pipeline
    from benchmarks.spark_runs import measure

    measured = measure(Pipeline("dovetail"), given.workload, given.parquet, given.warm_s, observed=True)
    return Finding(given.workload.rows, measured.rows_per_s, measured.sum)


def spark(given: Inputs, rocksdb: bool) -> Finding:
    """Spark's own stream-stream join over the same files."""
    from benchmarks.peer_spark import Pipeline
    from benchmarks.spark_runs import measure, refusal

    pipeline = Pipeline("native", rocksdb=rocksdb)
    if "=" not in given.workload.on.replace("<=", ""):
        return Finding(given.workload.rows, why=f"refused: {refusal(pipeline, given.workload, given.parquet)}")
    measured = measure(pipeline, given.workload, given.parquet, given.warm_s, observed=True)
    return Finding(given.workload.rows, measured.rows_per_s, measured.sum)


def flink(given: Inputs, rocksdb: bool) -> Finding:
    """Flink's own environment."""
    return _answered(given, FLINK.run("flink_job.py", flink_task(given.workload, given.plain / "bare", rocksdb)))


def pathway(given: Inputs) -> Finding:
    """Pathway's own environment."""
    return _answered(given, PATHWAY.run("pathway_job.py", pathway_task(given.workload, given.plain / "headed")))


def _answered(given: Inputs, answer: dict[str, Any]) -> Finding:
    rows = given.workload.rows
    if "refused" in answer:
        return Finding(rows, why=f"refused: {answer['refused']}")
    return Finding(rows, rows / answer["seconds"], Sum(answer["rows"], answer["total"]))
