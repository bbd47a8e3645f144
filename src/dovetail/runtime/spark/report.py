"""What one bucket did in one batch, as a row of counters; ``metrics`` reads them on the driver."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any

import pyarrow as pa

from dovetail.runtime.spark.arrivals import Arrivals


class Report:
    """Filled in while a batch runs."""

    def __init__(self, bucket: int, arrivals: Arrivals) -> None:
        self.bucket = bucket
        self._arrivals = arrivals
        self._spent_ns = dict.fromkeys(("load", "join", "save"), 0)
        self._results = 0
        self.recalled = "new"
        self.written = 0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time spent inside counts for a phase."""
        started = perf_counter_ns()
        yield
        self._spent_ns[name] += perf_counter_ns() - started

    def timed(self, name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; only the time spent making them counts, not what their reader does with them."""
        iterator = iter(batches)
        while True:
            with self.phase(name):
                batch = next(iterator, None)
            if batch is None:
                return
            yield batch

    def counted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches, their rows counted."""
        for batch in batches:
            self._results += batch.num_rows
            yield batch

    def finished(self, engine: dict[str, Any]) -> dict[str, Any]:
        """The counters of this batch, and what ``Engine.metrics`` says after it."""
        return {
            "bucket": self.bucket,
            "recalled": self.recalled,
            "results": self._results,
            "bytes_written": self.written,
            **{f"{name}_us": spent // 1000 for name, spent in self._spent_ns.items()},
            "joined": self._arrivals.joined,
            "packed": self._arrivals.totals,
            "engine": engine,
        }
