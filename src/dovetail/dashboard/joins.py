"""What is known of every join: its newest report, and an hour of what can be drawn.

A join is known by its query's name. When it starts again, its history goes on (counters begin anew, and a mark says
when); a second one of the same name that runs at the same time gets an entry of its own.

    run 1 of "alarms" reports at 10, 11, 12; run 2 starts at 20      one entry, restarted at 20
    run 1 reports again at 25                                        it is still there: "alarms (2)"
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.dashboard.incoming import Line, Metrics
from dovetail.dashboard.shedding import numbers_of
from dovetail.dashboard.timeline import Timeline

JOINS = 100  # a list longer than that is not read
RECENT_ROWS = 30  # a screenful
MARKS = 50  # restarts that a plot can show side by side
OVERLAP_S = 2.0  # a run's last report may come after its successor's first
GAP_S = 15.0  # three signs of life missed in a row
_SHARES = ("completeness", "throttle")


@dataclass
class Join:
    """One entry of the page; ``first`` and ``last`` are the lines that began and ended its newest run."""

    name: str
    first: Line | None = None
    last: Line | None = None
    at: float = 0.0
    number: int | None = None
    missed: int = 0
    reports: int = 0
    metrics: Metrics | None = None
    rates: dict[str, float] = field(default_factory=dict)
    results_rate: float | None = None
    plans: list[Any] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: deque[tuple[float, list[str]]] = field(default_factory=lambda: deque(maxlen=RECENT_ROWS))
    restarts: deque[float] = field(default_factory=lambda: deque(maxlen=MARKS))
    timeline: Timeline = field(default_factory=Timeline)

    @property
    def run(self) -> str:
        return self.first.run if self.first else ""

    @property
    def runtime(self) -> str:
        return self.first.runtime if self.first else ""

    @property
    def started(self) -> float:
        return self.first.at if self.first else 0.0

    @property
    def about(self) -> Mapping[str, Any]:
        return self.first.about if self.first else {}

    @property
    def budget(self) -> Mapping[str, Any]:
        return self.first.budget if self.first else {}

    @property
    def reason(self) -> str | None:
        """Why it ended, if it did for a reason."""
        return self.last.reason if self.last else None

    def begin(self, line: Line) -> None:
        """A run of this join starts, the first or another."""
        if self.run:
            self.restarts.append(line.at)
            self.timeline.add(max(line.at, self.at), {})
        self.first, self.last, self.at = line, None, max(line.at, self.at)
        self.number, self.metrics = None, None
        self.rates, self.results_rate = {}, None

    def end(self, line: Line) -> None:
        self.last = line

    def report(self, line: Line) -> None:
        """The next report of the run that goes on."""
        if line.metrics is None or line.at < self.at:
            return
        if self.number is not None and line.number > self.number + 1:
            self.missed += line.number - self.number - 1
        if self.metrics is not None:
            self._rate(line.metrics, line.at - self.at)
            if line.at - self.at > GAP_S:
                self.timeline.add(self.at + 1, {})
        self.number, self.at, self.metrics = line.number, line.at, line.metrics
        self.reports += 1
        self.plans = line.plans or self.plans
        self._keep(line)
        self.timeline.add(line.at, self._drawn(line.metrics))

    def _rate(self, metrics: Metrics, seconds: float) -> None:
        before = self.metrics
        if before is None or seconds <= 0:
            return
        self.results_rate = _per_second(before.whole, metrics.whole, "results", seconds)
        known = {name: _per_second(before.streams.get(name, {}), own, "rows", seconds) for name, own in
                 metrics.streams.items()}  # fmt: skip
        self.rates = {name: rate for name, rate in known.items() if rate is not None}

    def _keep(self, line: Line) -> None:
        if line.rows is None:
            return
        if line.rows["columns"] != self.columns:
            self.columns = line.rows["columns"]
            self.rows.clear()
        self.rows.extend((line.at, row) for row in line.rows["rows"])

    def _drawn(self, metrics: Metrics) -> dict[str, float]:
        """The numbers that have a line somewhere on the page."""
        values = {name: value for name, value in numbers_of(metrics.more).items() if name in _SHARES}
        if "held" in metrics.whole:
            values["held"] = metrics.whole["held"]
        if self.results_rate is not None:
            values["results"] = self.results_rate
        values |= {f"rate {name}": rate for name, rate in self.rates.items()}
        values |= {f"lag {name}": lag for name, lag in lags(metrics).items()}
        values |= {f"bytes {name}": own["bytes"] for name, own in metrics.windows.items() if "bytes" in own}
        values |= {
            f"response {name}": own["response_s"] for name, own in metrics.queries.items() if "response_s" in own
        }
        return values | ({"response": metrics.batch["seconds"]} if "seconds" in metrics.batch else {})


def lags(metrics: Metrics) -> dict[str, float]:
    """How many seconds of event time each stream is behind the one that has come furthest."""
    marks = {name: own["watermark"] for name, own in metrics.streams.items() if "watermark" in own}
    newest = max(marks.values(), default=0.0)
    return {name: (newest - mark) / 1e6 for name, mark in marks.items()}


def _per_second(before: Mapping[str, float], now: Mapping[str, float], name: str, seconds: float) -> float | None:
    if name not in before or name not in now or now[name] < before[name]:
        return None
    return (now[name] - before[name]) / seconds


class Joins:
    """All entries, by the name under which the page shows them."""

    def __init__(self) -> None:
        self.entries: dict[str, Join] = {}
        self._places: dict[str, str] = {}
        self._starts: dict[str, Line] = {}

    def add(self, line: Line) -> None:
        """One line, of any run."""
        if line.kind == "start":
            if line.run not in self._starts:
                self._starts[line.run] = line
                self._begin(line, line.query)
            return
        join = self._of(line)
        if join is None:
            return
        if line.kind == "end":
            join.end(line)
        else:
            join.report(line)

    def _begin(self, line: Line, name: str) -> Join:
        join = self.entries.setdefault(name, Join(name))
        if join.run and line.at < join.started:  # read late: the newer run has the place already
            self._places[line.run] = ""
            return join
        self._places[line.run] = name
        join.begin(line)
        self._forget()
        return join

    def _of(self, line: Line) -> Join | None:
        """The entry of a line's run; one that was thought to be over gets an entry of its own."""
        name = self._places.get(line.run)
        if name is None:
            return None
        join = self.entries.get(name)
        if join is not None and join.run == line.run:
            return join
        start = self._starts[line.run]
        newer = self.entries.get(start.query)
        if line.kind == "end" or (newer is not None and line.at < newer.started + OVERLAP_S):
            return None
        return self._begin(start, self._free(start.query))

    def _free(self, name: str) -> str:
        return next(free for count in range(2, JOINS + 3) if (free := f"{name} ({count})") not in self.entries)

    def _forget(self) -> None:
        """Keep the joins that were heard of last."""
        while len(self.entries) > JOINS:
            oldest = min(self.entries.values(), key=lambda join: join.at)
            del self.entries[oldest.name]
        if len(self._starts) > 20 * JOINS:
            kept = {join.run for join in self.entries.values()}
            self._starts = {run: start for run, start in self._starts.items() if run in kept}
            self._places = {run: name for run, name in self._places.items() if run in kept}
