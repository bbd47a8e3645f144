"""Running a pipeline over files, in a process and a session of its own, and reading Spark's account of it.

Speed is that of the steady state: the second half of the full batches, by Spark's own progress reports, once the
pipeline has run for ``WARM_S`` seconds; a faster one runs again in the same session until then, because Java compiles
what runs for long. Results are counted and summed in the first run; what runs again is the pipeline without that
account, which takes Spark a good part of the time that it takes to carry a row.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.alone import alone
from benchmarks.checksum import Sum
from benchmarks.peer_spark import CHECK, Pipeline, results_of, started
from benchmarks.workloads import Workload
from benchmarks.written import observed_in
from dovetail.runtime.spark.metrics import batch_metrics

CORES = 2
WARM_S = 120


@dataclass(frozen=True)
class Batch:
    """One micro-batch by Spark's account; ``ended`` in seconds since 1970; ``observed``: what the pipeline reported."""

    rows: int
    seconds: float
    ended: float
    observed: dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """A finished pipeline; ``sum``: count and checksum over all batches of the run that was observed."""

    batches: list[Batch]
    sum: Sum

    def at_best(self, again: "Measured") -> "Measured":
        """Each batch as fast as it was in either run; batches without rows, that only one has, count in none."""
        pairs = zip(self.batches, again.batches, strict=False)
        return replace(self, batches=[min(pair, key=lambda batch: batch.seconds) for pair in pairs])

    @property
    def steady(self) -> list[Batch]:
        """The second half of the full batches: neither a rest at the end nor a batch that only evicts."""
        most = max(batch.rows for batch in self.batches)
        full = [batch for batch in self.batches if batch.rows > most // 2]
        return full[len(full) // 2 :]

    @property
    def rows_per_s(self) -> float:
        return sum(batch.rows for batch in self.steady) / sum(batch.seconds for batch in self.steady)

    @property
    def batch_seconds(self) -> float:
        return median(batch.seconds for batch in self.steady)


def measure(
    pipeline: Pipeline, workload: Workload, folder: Path, warm_s: float = 0, observed: bool = False
) -> Measured:
    """Run a pipeline over all files, in another process; runs take minutes, so each is announced.

    ``observed``: results are counted and summed whenever it runs again as well.
    """
    print(f"{workload.name}: {pipeline} ...", file=sys.stderr, flush=True)
    return alone(_run, pipeline, workload.bare(), folder, warm_s, observed)


def _run(pipeline: Pipeline, workload: Workload, folder: Path, warm_s: float = 0, observed: bool = False) -> Measured:
    with session_for(pipeline) as session:
        began = time.monotonic()
        measured = _once(session, pipeline, workload, folder)
        again = replace(pipeline, observed=observed)
        while time.monotonic() - began < warm_s:
            measured = replace(_once(session, again, workload, folder), sum=measured.sum)
    return measured


def _once(session: Any, pipeline: Pipeline, workload: Workload, folder: Path) -> Measured:
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as checkpoint:
        query = started(pipeline, session, workload, folder, Path(checkpoint), availableNow=True)
        query.awaitTermination()
        return account(query, pipeline, workload, Path(checkpoint))


@contextmanager
def session_for(pipeline: Pipeline, **more: str) -> Iterator[Any]:
    """A session with the pipeline's settings, and ``more``, that remembers every batch."""
    from dovetail.runtime.spark.session import spark_session

    settings = {**pipeline.settings, "spark.sql.streaming.numRecentProgressUpdates": "10000", **more}
    session = spark_session(CORES, name="benchmark", settings=settings)
    yield session
    session.stop()


def account(query: Any, pipeline: Pipeline, workload: Workload, checkpoint: Path) -> Measured:
    """What Spark reports about a query's batches, and of results in files what these tell."""
    batches = [_batch(progress) for progress in query.recentProgress]
    if pipeline.kind == "files" and pipeline.observed:
        results, pairs = results_of(checkpoint), zip(batches, query.recentProgress, strict=True)
        batches = [  # a query that waits reports under the number of the batch to come, without rows
            replace(batch, observed=observed_in(results, progress.batchId, workload)) if batch.rows else batch
            for batch, progress in pairs
        ]
    sums = (Sum(batch.observed.get("rows") or 0, batch.observed.get("total") or 0) for batch in batches)
    return Measured(batches, sum(sums, Sum()))


def _batch(progress: Any) -> Batch:
    seconds = progress.durationMs.get("triggerExecution", 0) / 1000
    began = datetime.fromisoformat(progress.timestamp).timestamp()
    observed, own = progress.observedMetrics.get(CHECK), batch_metrics(progress)
    rows = sum(stream["rows"] for stream in own["streams"].values()) if own else progress.numInputRows
    return Batch(rows, seconds, began + seconds, observed.asDict() if observed else {})


def refusal(pipeline: Pipeline, workload: Workload, folder: Path) -> str:
    """Why Spark does not start a pipeline; an empty text if it does."""
    return alone(_refusal, pipeline, workload.bare(), folder)


def _refusal(pipeline: Pipeline, workload: Workload, folder: Path) -> str:
    from pyspark.errors import PySparkException

    try:
        _run(pipeline, workload, folder)
    except PySparkException as error:
        return str(error).splitlines()[0].split("terminated with exception: ")[-1]
    return ""
