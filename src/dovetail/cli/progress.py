"""What running queries have done so far.

In a terminal, a small table that stays in place, and a bar where the end is known:

    query    rows/s  results/s   results  complete     lag  lost
    alarms    1,333         38     1,911     100 %   2.1 s  12 late

Elsewhere, a line for each batch that did something:

    alarms: batch 3, 2,000 rows in, 57 results, 0.8 s (so far 12 late)

"complete" is about what a budget leaves out; rows that came late or had no time are beside it.
"""

from dataclasses import dataclass, field
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dovetail.cli.lost_rows import lost_cell, lost_lines, lost_warnings
from dovetail.observe.buckets import Buckets

HEADS = ("query", "rows/s", "results/s", "results", "complete", "lag", "lost")


@dataclass
class Running:
    """A started query, and the sums of its batches."""

    name: str
    query: Any
    last: int = -1
    batches: int = 0
    rows: int = 0
    results: int = 0
    cells: tuple[str, ...] = ("waiting for the first batch",)
    buckets: Buckets = field(default_factory=Buckets)

    def drain(self) -> list[str]:
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
        rows = sum(each["rows"] for each in metrics["streams"].values()) if metrics else progress.numInputRows
        self.batches += 1
        self.rows += rows
        self.results += results
        if metrics:
            self.buckets.add(metrics)
        if not rows and not results:
            return ""
        seconds = progress.durationMs.get("triggerExecution", 0) / 1000
        self.cells = self._cells(rows / max(seconds, 1e-3), results / max(seconds, 1e-3))
        done = f"batch {progress.batchId}, {rows:,} rows in, {results:,} results, {seconds:.1f} s"
        lost = lost_cell(self.buckets.report()["streams"])
        return f"{self.name}: {done} (so far {lost})" if lost else f"{self.name}: {done}"

    def _cells(self, rows_rate: float, results_rate: float) -> tuple[str, ...]:
        """What the table shows of the newest batch; the lag is that of the stream furthest behind the others."""
        known = self.buckets.report()
        marks = [each["watermark"] for each in known["streams"].values() if each["watermark"] is not None]
        lag = (max(marks) - min(marks)) / 1e6 if marks else 0.0
        complete = known.get("completeness", 1.0)
        rates = f"{rows_rate:,.0f}", f"{results_rate:,.0f}"
        return *rates, f"{self.results:,}", f"{complete:.0%}", f"{lag:.1f} s", lost_cell(known["streams"])

    def summary(self) -> str:
        """The sums, once it has stopped."""
        return f"{self.name}: {self.batches} batches, {self.rows:,} rows in, {self.results:,} results"

    def lost(self) -> list[str]:
        """What became of rows that came late or had no time, and what to do if they are many."""
        streams = self.buckets.report()["streams"]
        return [*lost_lines(self.name, streams), *lost_warnings(self.name, streams)]

    def failure(self) -> str | None:
        """Why it ended by itself; None while it runs or if it came to its end."""
        error = None if self.query.isActive else self.query.exception()
        return f"{self.name}: {str(error).splitlines()[0]}" if error else None


class Progress:
    """Shows all queries."""

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

    def show(self, done: float | None = None) -> None:
        """Take what is new of every query, and show it; ``done``: how much of the time is over, if it ends."""
        lines = [line for each in self._running for line in each.drain()]
        if self._live:
            self._live.update(view(self._running, done))
        else:
            for line in lines:
                self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def view(running: list[Running], done: float | None) -> RenderableType:
    """The table, and the bar below it."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for at, head in enumerate(HEADS):
        table.add_column(head, justify="right" if at else "left", no_wrap=True)
    for each in running:
        table.add_row(Text(each.name), *(Text(cell) for cell in each.cells))
    return table if done is None else Group(table, ProgressBar(total=1.0, completed=min(done, 1.0), width=60))
