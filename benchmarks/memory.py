"""24,000,000 rows in one micro-batch on Spark: how large Java and the Python workers become.

Java has a heap of 1 GB, Spark's own default. ``java_mb`` and ``worker_mb`` are the most that Java, and the largest of
its Python processes, had resident, as Linux tells: of Java also all that it has beside its heap, of a worker also files
of other processes that it maps; ``worker_own_mb`` is without these. Results are those of DuckDB.
"""

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.alone import alone
from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline, started
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import Measured, account, session_for
from benchmarks.workloads import Workload, equi

PIPELINES = {"dovetail": Pipeline("files"), "dataframes": Pipeline("dovetail")}
HEAP = {"spark.driver.memory": "1g"}
LOOK_S = 0.1
COLUMNS = {"java_mb": "Java, MB", "worker_mb": "largest worker, MB", "worker_own_mb": "its own, MB", "batch_s": "s"}


def run(settings: Settings) -> Report:
    """One batch for each pipeline."""
    workload = equi(settings.size(12_000_000, 200_000), "UTC")
    expected = OfflineJoin(workload).sum()
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected.rows, "results_equal": True, "sums": {}}
    with inputs(workload, workload.rows) as folder:
        for name, pipeline in PIPELINES.items():
            print(f"{workload.name}: {pipeline}, {workload.rows:,} rows at once ...", file=sys.stderr, flush=True)
            found, sizes = alone(_measured, pipeline, workload.bare(), folder)
            with_rows = [batch for batch in found.batches if batch.rows]
            fields["results_equal"] &= found.sum == expected and len(with_rows) == 1
            fields["sums"][name] = [found.sum.rows, found.sum.total]
            fields |= {f"{name}_{what}": size for what, size in sizes.items()}
            fields[f"{name}_batch_s"] = with_rows[0].seconds
    lines = [(name, *(fields[f"{name}_{what}"] for what in COLUMNS)) for name in PIPELINES]
    return Report(f"{workload.rows:,} rows in one batch", ("pipeline", *COLUMNS.values()), lines, fields)


def _measured(pipeline: Pipeline, workload: Workload, folder: Path) -> tuple[Measured, dict[str, float]]:
    with (
        tempfile.TemporaryDirectory(prefix="dovetail-bench-") as place,
        session_for(pipeline, **HEAP) as session,
        watched() as peaks,
    ):
        query = started(pipeline, session, workload, folder, Path(place), availableNow=True)
        query.awaitTermination()
        peaks.look()
        return account(query, pipeline, workload, Path(place)), peaks.largest()


@dataclass
class Peaks:
    """The most that each process below this one ever had resident, and that was its own, in MB."""

    java: dict[int, float] = field(default_factory=dict)
    workers: dict[int, float] = field(default_factory=dict)
    own: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        """Ask all that live; the system remembers what they had resident."""
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error, OSError, KeyError):  # it has ended
                told = status(Path(f"/proc/{process.pid}/status").read_text())
                kind = self.java if process.name() == "java" else self.workers
                kind[process.pid] = told["VmHWM"]
                if kind is self.workers:
                    self.own[process.pid] = max(self.own.get(process.pid, 0.0), told["RssAnon"])

    def largest(self) -> dict[str, float]:
        """Of each kind the largest."""
        kinds = {"java_mb": self.java, "worker_mb": self.workers, "worker_own_mb": self.own}
        return {name: max(sizes.values(), default=0.0) for name, sizes in kinds.items()}


def status(text: str) -> dict[str, float]:
    """The sizes in what Linux tells of a process, in MB.

    >>> status("Name:\\tjava\\nVmHWM:\\t 1000000 kB\\nThreads:\\t7\\n")
    {'VmHWM': 1024.0}
    """
    pairs = (line.split(":", 1) for line in text.splitlines() if line.endswith(" kB"))
    return {name: round(int(size.split()[0]) * 1024 / 1e6, 1) for name, size in pairs}


@contextmanager
def watched() -> Iterator[Peaks]:
    """Look at all processes below this one, again and again, until the block ends."""
    peaks, ended = Peaks(), threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_S):
            peaks.look()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()
