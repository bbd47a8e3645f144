"""Harvesting against dropping tuples when there is too little CPU: results after warm-up, on a simulated machine.

The machine makes as many comparisons a second as the whole join needs at the first rate; the streams are those of the
GrubJoin paper. ``five lagged`` has its own first rate, because every stream more multiplies the work.
"""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

import dovetail as dv
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.testing import correlated_streams, overload

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
WARM_S = 20


@dataclass(frozen=True)
class Case:
    """Streams by their lags and deviations, the rate that the machine can just carry, and the rate that comes."""

    name: str
    lags: dict[str, float]
    deviations: dict[str, float]
    carried: float
    rate: float


THREE = {"A": 2.0, "B": 2.0, "C": 50.0}
CASES = (
    Case("aligned", {"A": 0.0, "B": 0.0, "C": 0.0}, THREE, 100, 300),
    Case("lagged", {"A": 0.0, "B": 5.0, "C": 15.0}, THREE, 100, 300),
    Case(
        "five lagged",
        {"A": 0.0, "B": 3.0, "C": 6.0, "D": 9.0, "E": 12.0},
        {"A": 2.0, "B": 2.0, "C": 50.0, "D": 50.0, "E": 50.0},
        20,
        60,
    ),
    Case("uncorrelated", {"A": 0.0, "B": 0.0, "C": 0.0}, dict.fromkeys("ABC", 10_000.0), 100, 300),
)


def run(settings: Settings) -> Report:
    """Every case by both policies."""
    seconds = settings.choose(60, 24)
    rows, fields, equal = [], {}, True
    for case in CASES[:: settings.choose(1, 3)]:
        harvest, drop = (_results(case, policy, seconds) for policy in ("harvest", "drop"))
        gain = harvest / max(drop, 1) - 1
        rows.append((case.name, harvest, drop, f"{gain:+.0%}"))
        fields[case.name] = {"harvest": harvest, "drop": drop, "gain": gain}
        equal = equal and _is_part(case)
    header = "streams", "harvest", "drop", "gain"
    return Report("Results under overload", header, rows, {**fields, "results_equal": equal})


def _results(case: Case, policy: str, seconds: float) -> int:
    query = _query(case, policy)
    usual = correlated_streams(case.lags, case.carried, seconds, case.deviations, seed=1)
    whole = overload(query, usual, capacity=1e15)
    streams = correlated_streams(case.lags, case.rate, seconds, case.deviations, seed=1)
    log = overload(query, streams, whole.metrics["comparisons"] / seconds)
    return log.results(since=min(WARM_S, seconds / 2))


def _is_part(case: Case) -> bool:
    """Whether what comes out of a small overloaded run is part of the whole."""
    query = _query(case, "harvest")
    streams = correlated_streams(case.lags, case.carried / 5, 24, case.deviations, seed=2)
    whole = overload(query, streams, capacity=1e15)
    part = overload(query, streams, whole.metrics["comparisons"] / 24 / 5)
    counted = [log.rows.group_by(log.rows.column_names).aggregate([([], "count_all")]) for log in (whole, part)]
    together = counted[1].join(counted[0], whole.rows.column_names, right_suffix="_whole")
    return bool(
        pc.all(pc.less_equal(together["count_all"], pc.fill_null(together["count_all_whole"], 0)), min_count=0).as_py()
    )


def _query(case: Case, policy: str) -> dv.Query:
    names = list(case.lags)
    streams = [dv.stream(name, time="ts", window="20 seconds", schema=SCHEMA) for name in names]
    on = " AND ".join(f"ABS({a}.x - {b}.x) <= 1" for at, a in enumerate(names) for b in names[at + 1 :])
    select = ", ".join(f"{name}.ts AS {name}" for name in names)
    budget = dv.budget(cpu=1.0, policy=policy)
    return dv.join(*streams, on=on, select=select, algorithm="scan", budget=budget)
