"""What knowing the streams costs: the same rows through an engine that observes and through one that does not.

The one that observes is as every embedded run has it: statistics kept, times taken, plans reconsidered (structures and
orders are set by hand, so that both do the same work). Both run in turns over the same parts; of several tries the
fastest of each part counts.
"""

from collections.abc import Sequence
from typing import Any

from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.engine.observed import Observed
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.adapting import WallStopwatch
from dovetail.runtime.calibration import Timing, fastest, filled, timed
from dovetail.runtime.replanning import Replanning
from dovetail.runtime.workload import Setting, Workload

SETTINGS = {
    "two streams": Setting((10_000.0, 10_000.0), 100_000, 100_000, 1000),
    "two streams, faster": Setting((100_000.0, 100_000.0), 100_000, 1_000_000, 1000),
    "two streams, large blocks": Setting((10_000.0, 10_000.0), 100_000, 100_000, 10_000),
    "two streams, small blocks": Setting((10_000.0, 10_000.0), 100_000, 100_000, 100),
    "three streams": Setting((10_000.0,) * 3, 100_000, 100_000, 1000),
}
TUPLES = 400_000


class Unobserved(Observed):
    """Sees nothing."""

    def stored(self, *_: Any) -> None:
        """Nothing is noted."""

    def joined(self, *_: Any) -> None:
        """Nor here."""

    def made(self, *_: Any) -> None:
        """Nor here."""

    def expired(self, *_: Any) -> None:
        """Nor here."""

    @property
    def due(self) -> bool:
        return False


def run(settings: Settings) -> Report:
    """Five settings; the first is the one that is judged."""
    limit_arrow()
    tuples, repeats = settings.choose(TUPLES, TUPLES // 10), settings.choose(5, 1)
    found = {name: overhead(each, tuples / sum(each.rates), repeats) for name, each in SETTINGS.items()}
    fields = {
        "overhead": next(iter(found.values()))["overhead"],
        "settings": found,
        "results_equal": all(each["results_equal"] for each in found.values()),
    }
    header = ("setting", "rows/s", "rows/s unobserved", "overhead %")
    lines = [
        (name, each["rows_per_s"], each["rows_per_s_unobserved"], each["overhead"] * 100)
        for name, each in found.items()
    ]
    return Report("What statistics cost", header, lines, fields)


def overhead(setting: Setting, seconds: float, repeats: int) -> dict[str, Any]:
    """One setting: both engines in turns."""
    workload = setting.workload(seconds)
    tries = [_both(setting, workload) for _ in range(repeats)]
    ours, bare = ([each[side] for each in tries] for side in (0, 1))
    with_s, without_s = fastest(ours, workload), fastest(bare, workload)
    return {
        "rows_per_s": sum(setting.rates) / with_s,
        "rows_per_s_unobserved": sum(setting.rates) / without_s,
        "overhead": round(with_s / without_s - 1, 4),
        "results_equal": len({each.results for each in (*ours, *bare)}) == 1,
    }


def _both(setting: Setting, workload: Workload) -> tuple[Timing, Timing]:
    """Part by part, so that a slow moment of the machine meets both."""
    plan = plan_query(setting.query(dict.fromkeys(setting.names, "hash")))
    ours, bare = filled(plan, workload.filling, WallStopwatch()), filled(plan, workload.filling)
    Replanning(ours)
    bare.observed = Unobserved(bare._windows, plan.query.streams)
    parts = [(timed(ours, part), timed(bare, part)) for part in workload.parts]
    return _timing([pair[0] for pair in parts]), _timing([pair[1] for pair in parts])


def _timing(parts: Sequence[tuple[float, int]]) -> Timing:
    return Timing(tuple(seconds for seconds, _ in parts), tuple(results for _, results in parts))
