"""Harvesting against dropping tuples when there is too little CPU: results after warm-up, on a simulated machine.

The machine makes as many comparisons a second as the whole join of the first three streams needs at 100 tuples a second
each, once its windows are full; the streams are those of the GrubJoin paper. CPU time is counted in comparisons, for
both policies, so nothing depends on what else this machine does: ``cpu`` is the share of the capacity that was used,
and the gain is that in results per comparison. The lags of five streams, and the deviations of the last two, are ours:
as close as those of the first two, or as vague as that of the third.
"""

from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

import dovetail as dv
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.testing import Overloaded, correlated_streams, overload

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
CARRIED = 100.0
WARM_S = 20


@dataclass(frozen=True)
class Case:
    """Streams by their lags and deviations, the rate that comes, and the gain that the paper reports."""

    name: str
    lags: tuple[float, ...]
    deviations: tuple[float, ...]
    rate: float
    gain: float

    @property
    def names(self) -> str:
        return "ABCDE"[: len(self.lags)]

    def streams(self, rate: float, seconds: float, seed: int) -> dict[str, pa.Table]:
        lags, deviations = (dict(zip(self.names, each, strict=True)) for each in (self.lags, self.deviations))
        return correlated_streams(lags, rate, seconds, deviations, seed=seed)

    @property
    def three(self) -> "Case":
        return Case(self.name, self.lags[:3], self.deviations[:3], CARRIED, 0.0)


CASES = (
    Case("aligned", (0.0, 0.0, 0.0), (2.0, 2.0, 50.0), 300, 0.65),
    Case("lagged", (0.0, 5.0, 15.0), (2.0, 2.0, 50.0), 300, 1.5),
    Case("five lagged", (0.0, 3.0, 6.0, 9.0, 12.0), (2.0, 2.0, 50.0, 2.0, 2.0), 100, 7.0),
    Case("five vague", (0.0, 3.0, 6.0, 9.0, 12.0), (2.0, 2.0, 50.0, 50.0, 50.0), 100, 0.0),
    Case("uncorrelated", (0.0, 0.0, 0.0), (10_000.0, 10_000.0, 10_000.0), 300, -0.05),
)


def run(settings: Settings) -> Report:
    """Every case by both policies."""
    seconds = settings.choose(60, 28)
    rows, fields, equal = [], {}, True
    for case in CASES[:: settings.choose(1, 3)]:
        logs = [_overloaded(case, policy, seconds) for policy in ("harvest", "drop")]
        harvest, drop = (log.results(since=WARM_S) for log in logs)
        used = [log.compared(since=WARM_S) / (seconds - WARM_S) / _capacity(case.three, seconds) for log in logs]
        gain = (harvest / used[0]) / (max(drop, 1) / used[1]) - 1
        rows.append((case.name, harvest, drop, f"{gain:+.0%}", f"{case.gain:+.0%}", *(f"{u:.2f}" for u in used)))
        fields[case.name] = {"harvest": harvest, "drop": drop, "gain": gain, "paper": case.gain, "cpu": used}
        equal = equal and _is_part(case)
    header = "streams", "harvest", "drop", "gain", "at least", "cpu of harvest", "cpu of drop"
    return Report("Results under overload", header, rows, {**fields, "results_equal": equal})


def _overloaded(case: Case, policy: str, seconds: float) -> Overloaded:
    return overload(_query(case, policy), case.streams(case.rate, seconds, seed=1), _capacity(case.three, seconds))


@cache
def _capacity(case: Case, seconds: float) -> float:
    """Comparisons per second of the whole join, windows being full."""
    whole = overload(_query(case, "harvest"), case.streams(case.rate, seconds, seed=1), capacity=1e15)
    return whole.compared(since=WARM_S) / (seconds - WARM_S)


def _is_part(case: Case) -> bool:
    """Whether what comes out of a small overloaded run is part of the whole."""
    query, streams = _query(case, "harvest"), case.streams(20, 24, seed=2)
    whole = overload(query, streams, capacity=1e15)
    part = overload(query, streams, whole.metrics["comparisons"] / 24 / 5)
    counted = [log.rows.group_by(log.rows.column_names).aggregate([([], "count_all")]) for log in (whole, part)]
    together = counted[1].join(counted[0], whole.rows.column_names, right_suffix="_whole")
    return bool(
        pc.all(pc.less_equal(together["count_all"], pc.fill_null(together["count_all_whole"], 0)), min_count=0).as_py()
    )


def _query(case: Case, policy: str) -> dv.Query:
    names = case.names
    streams = [dv.stream(name, time="ts", window="20 seconds", schema=SCHEMA) for name in names]
    on = " AND ".join(f"ABS({a}.x - {b}.x) <= 1" for at, a in enumerate(names) for b in names[at + 1 :])
    select = ", ".join(f"{name}.ts AS {name}" for name in names)
    budget = dv.budget(cpu=1.0, policy=policy)
    return dv.join(*streams, on=on, select=select, algorithm="scan", budget=budget)
