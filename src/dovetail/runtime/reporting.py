"""Reports of an embedded run: made at the end of a call, at most one a second, and never in its way.

Of the calls between two reports, one that has results is watched: a few of them are kept as text, and where queries
share the run, how long after the call began each query got its rows. The other calls go through untouched.
"""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any
from weakref import finalize

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.observe.report import report_of
from dovetail.observe.reports import Reports
from dovetail.observe.sample import sample_rows
from dovetail.plan.display import plan_html, run_html
from dovetail.runtime.plans import plans_of


class Reporting(Reports):
    """Ties a run to its reporter."""

    def __init__(self, run: Any, folder: Path, name: str, about: dict[str, Any]) -> None:
        super().__init__(folder, name, {"runtime": "embedded", **about})
        self._run = run
        finalize(self, self._reporter.close).atexit = False  # a run that nobody closes, but goes on from its snapshot
        self._responses: dict[str, float] = {}

    def watch(self, batches: Iterator[pa.RecordBatch], last: bool) -> Iterator[pa.RecordBatch]:
        """The results of a call, and then a report if one is due."""
        return self._watched(batches, last) if last or self._rows is None or self._reporter.due else batches

    def _watched(self, batches: Iterator[pa.RecordBatch], last: bool) -> Iterator[pa.RecordBatch]:
        began = perf_counter()
        for batch in batches:
            self._see(batch, perf_counter() - began)
            yield batch
        if last or self._reporter.due:
            self._reporter.report(self._values)
        if last:
            self._reporter.close()

    def _see(self, batch: pa.RecordBatch, passed_s: float) -> None:
        with self._reporter.careful():
            if batch.num_rows:
                self._rows = sample_rows(batch)
            if batch.num_rows and self._run.names_queries:
                self._responses |= dict.fromkeys(pc.unique(batch["query"]).to_pylist(), passed_s)

    def _values(self) -> dict[str, Any]:
        """What there is to say now."""
        metrics = report_of(self._run.metrics())
        for name, seconds in self._responses.items():
            metrics.get("queries", {}).get(name, {})["response_s"] = seconds
        values: dict[str, Any] = {"metrics": metrics, "rows": self._rows}
        if self._with_plans:
            values["plans"] = plans_of(self._run.operator)
        self._told()
        self._responses = {}
        return values


def run_display(run: Any) -> str:
    """A run as notebooks show it."""
    return run_html(report_of(run.metrics())) + "".join(plan_html(plan) for plan in plans_of(run.operator))
