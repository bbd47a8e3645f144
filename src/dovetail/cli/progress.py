"""What running queries have done so far, one line per query.

    alarms: batch 3, 2,000 rows in, 57 results, 0.8 s

In a terminal the lines stay in place and change; elsewhere each batch that did something adds a line.
"""

from dataclasses import dataclass
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text


@dataclass
class Running:
    """A started query, and the sums of its batches."""

    name: str
    query: Any
    last: int = -1
    batches: int = 0
    rows: int = 0
    results: int = 0
    line: str = "waiting for the first batch"

    def take(self) -> list[str]:
        """A line for each batch that has ended since the last look and had something to do."""
        newest = self.query.lastProgress
        if newest is None or newest.batchId <= self.last:
            return []
        lines = [self._count(progress) for progress in self.query.recentProgress if progress.batchId > self.last]
        self.last = newest.batchId
        return [line for line in lines if line]

    def _count(self, progress: Any) -> str:
        from dovetail.runtime.spark.metrics import batch_metrics

        metrics = batch_metrics(progress)
        results = metrics["results"] if metrics else 0
        self.batches += 1
        self.rows += progress.numInputRows
        self.results += results
        if not progress.numInputRows and not results:
            return ""
        seconds = progress.durationMs.get("triggerExecution", 0) / 1000
        self.line = f"batch {progress.batchId}, {progress.numInputRows:,} rows in, {results:,} results, {seconds:.1f} s"
        return f"{self.name}: {self.line}"

    def summary(self) -> str:
        """The sums, once it has stopped."""
        return f"{self.name}: {self.batches} batches, {self.rows:,} rows in, {self.results:,} results"

    def failure(self) -> str | None:
        """Why it ended by itself; None while it runs or if it came to its end."""
        error = None if self.query.isActive else self.query.exception()
        return f"{self.name}: {str(error).splitlines()[0]}" if error else None


class Progress:
    """Shows the lines of all queries."""

    def __init__(self, console: Console, running: list[Running]) -> None:
        self._console = console
        self._running = running
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self) -> None:
        """Take what is new of every query, and show it."""
        lines = [line for each in self._running for line in each.take()]
        if self._live:
            self._live.update(Text("\n".join(f"{each.name}: {each.line}" for each in self._running)))
        else:
            for line in lines:
                self._console.print(line, markup=False, highlight=False, soft_wrap=True)
