"""What knowing the streams costs: how much of an engine's time goes into observing.

The engine is as every embedded run has it: statistics kept, times taken, plans reconsidered (structures are set by
hand, so that it does the same work throughout). Everything that exists for the statistics is timed where it is called,
in the run itself: two runs, one that observes and one that does not, differ by more than that from one try to the next.
The first quarter of a run, in which the streams are new to it, is left out.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.control.steered import Steered
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.calibration import filled, timed
from dovetail.runtime.wall_stopwatch import WallStopwatch
from dovetail.runtime.workload import Setting, Workload

SETTINGS = {
    "two streams": Setting((10_000.0, 10_000.0), 100_000, 100_000, 1000),
    "two streams, faster": Setting((100_000.0, 100_000.0), 100_000, 1_000_000, 1000),
    "two streams, large blocks": Setting((10_000.0, 10_000.0), 100_000, 100_000, 10_000),
    "two streams, small blocks": Setting((10_000.0, 10_000.0), 100_000, 100_000, 100),
    "three streams": Setting((10_000.0,) * 3, 100_000, 100_000, 1000),
}
TUPLES = 800_000


class Inside:
    """Adds up the time spent in some methods of an engine's parts."""

    def __init__(self, operator: Steered, stopwatch: WallStopwatch) -> None:
        self.seconds = 0.0
        (readings,) = operator.statistics()
        for name in ("stored", "joined", "expired"):
            self._time(readings.observed, name)
        for name in ("begin", "split", "end"):
            self._time(stopwatch, name)
        self._time(readings.line, "observe")  # the reading
        self._time(operator.controller, "step")  # whether another plan is better

    def _time(self, part: Any, name: str) -> None:
        setattr(part, name, self._timed(getattr(part, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started = perf_counter()
            result = method(*arguments)
            self.seconds += perf_counter() - started
            return result

        return call


def run(settings: Settings) -> Report:
    """Five settings; the first is the one that is judged."""
    limit_arrow()
    tuples, repeats = settings.choose(TUPLES, TUPLES // 10), settings.choose(7, 1)
    found = {name: overhead(each, tuples, repeats) for name, each in SETTINGS.items()}
    shares = {name: share for name, (share, _) in found.items()}
    fields = {
        "overhead": next(iter(shares.values())),
        "highest": max(shares.values()),
        "settings": shares,
        "results_equal": all(equal for _, equal in found.values()),
    }
    lines = [(name, share * 100) for name, share in shares.items()]
    return Report("What statistics cost", ("setting", "overhead %"), lines, fields)


def overhead(setting: Setting, tuples: int, repeats: int) -> tuple[float, bool]:
    """Time spent observing as a share of the other time, in the median of several tries; whether results are right."""
    workload = setting.workload(tuples / sum(setting.rates))
    plan = plan_query(setting.query(dict.fromkeys(setting.names, "hash")))
    tries = [_observed(plan, workload) for _ in range(repeats)]
    plain = filled(plan, workload.filling)
    expected = sum(timed(plain, part)[1] for part in workload.parts)
    return round(median(share for share, _ in tries), 4), all(results == expected for _, results in tries)


def _observed(plan: Plan, workload: Workload) -> tuple[float, int]:
    """One try: the share of time, and the number of results."""
    stopwatch, settled = WallStopwatch(), len(workload.parts) // 4
    engine = Steered(filled(plan, workload.filling, stopwatch), plan.query)
    inside = Inside(engine, stopwatch)
    results = sum(timed(engine, part)[1] for part in workload.parts[:settled])
    before, started = inside.seconds, perf_counter()
    results += sum(timed(engine, part)[1] for part in workload.parts[settled:])
    spent = inside.seconds - before
    return spent / (perf_counter() - started - spent), results
