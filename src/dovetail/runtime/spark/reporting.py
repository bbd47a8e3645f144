"""Reports of a Spark pipeline: a thread of the driver reads the progress that Spark keeps anyway.

The pipeline does not know that it is watched: nothing is added to it, and a report that cannot be written is
counted and forgotten. When the query ends, by itself or not, the last report says so and why.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa

from dovetail.observe.buckets import Buckets
from dovetail.observe.reporter import LAST_WORDS_S
from dovetail.observe.reports import Reports
from dovetail.observe.sample import sample_rows
from dovetail.runtime.spark.metrics import batch_metrics

LOOK_EVERY_S = 0.5  # half the time between two reports

Plans = Callable[[Mapping[str, Any]], list[dict[str, Any]]]


class SparkReporting(Reports):
    """Watches one ``StreamingQuery`` until it ends; ``plans`` says how it is planned, given what was measured."""

    def __init__(self, query: Any, folder: Path, name: str, about: dict[str, Any], plans: Plans | None = None) -> None:
        super().__init__(folder, name, {"runtime": "spark", **about})
        self._query = query
        self._plans = plans
        self._buckets = Buckets()
        self._last = -1
        self._stop = Event()
        self._thread = Thread(target=self._watch, name=f"dovetail watches {name}", daemon=True)
        self._thread.start()

    def see(self, rows: pa.Table) -> None:
        """Results to show a few of, from wherever they are delivered (a function given to ``foreachBatch``)."""
        if rows.num_rows:
            with self._reporter.careful():
                self._rows = sample_rows(rows)

    def finish(self) -> None:
        """Report what is left and end, before the session does; waits for that, but not for long."""
        self._stop.set()
        self._thread.join(LAST_WORDS_S)

    def _watch(self) -> None:
        reason = None
        with self._reporter.careful():
            while self._query.isActive and not self._stop.wait(LOOK_EVERY_S):
                self._look()
            self._look(last=True)
            error = self._query.exception()
            reason = str(error).splitlines()[0] if error else None
        self._reporter.close(reason)

    def _look(self, last: bool = False) -> None:
        """Take the batches that have ended since the last look, and report if there were any."""
        newest = self._query.lastProgress
        if newest is None or newest.batchId <= self._last or not (last or self._reporter.due):
            return
        for progress in self._query.recentProgress if newest.batchId > self._last + 1 else [newest]:
            if progress.batchId > self._last:
                self._take(progress)
        self._last = newest.batchId
        self._reporter.report(self._values)

    def _take(self, progress: Any) -> None:
        batch = batch_metrics(progress)
        if batch is not None:
            self._buckets.add(batch)

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = {"metrics": self._buckets.report(), "rows": self._rows}
        if self._plans is not None and self._with_plans:
            with self._reporter.careful():
                values["plans"] = self._plans(self._buckets.statistics)
        self._told()
        return values
