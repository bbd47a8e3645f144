"""How much CPU a join under ``budget(cpu=x)`` really uses: its thread's CPU time beside the time allowed.

Two streams with scanned windows of two seconds, at rates at which all of the work would take 2, 10 and 50 times what is
allowed (the cost of the whole join is measured first). Time is the streams' own, told by ``tick`` ten times a second;
only CPU time is read, so the figures hold on a busy machine. The first half warms up.
"""

from time import thread_time
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.testing import correlated_streams
from dovetail.testing.overload import in_steps

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
STEP_US = 100_000
SHARES, LOADS = (0.1, 0.25, 0.5, 1.0), (2, 10, 50)
KNOWN_RATE = 1_000.0


def run(settings: Settings) -> Report:
    """Every share and load; CPU used over CPU allowed, and what became of the tuples."""
    seconds = settings.choose(20, 6)
    whole_s = _used(dv.budget(cpu=1.0), KNOWN_RATE, 6, told=False)[0]
    rows, most = [], 0.0
    for share in SHARES[:: settings.choose(1, 3)]:
        for load in LOADS:
            # the work grows with the square of the rate: more arrivals, and each meets more tuples
            rate = KNOWN_RATE * float(np.sqrt(load * share / whole_s))
            budget = dv.budget(cpu=share, policy=dv.harvest(interval="1 second"))
            used, metrics = _used(budget, rate, seconds, told=True)
            dropped = sum(metrics["dropped"].values()) / (2 * rate * seconds)
            most = max(most, used / share)
            rows.append((f"{share:g}", load, used / share, metrics["throttle"], f"{dropped:.0%}", metrics["results"]))
    fields = {"most": most, "used_of_allowed": [row[2] for row in rows], "results_equal": _is_whole()}
    header = "cpu", "load", "used / allowed", "throttle", "dropped", "results"
    return Report("CPU used under a budget", header, rows, fields)


def _used(budget: dv.Budget, rate: float, seconds: int, told: bool) -> tuple[float, dict[str, Any]]:
    """CPU seconds per second in the second half, and the budget's own account; not ``told`` the time, all is joined."""
    streams = correlated_streams({"A": 0.0, "B": 0.5}, rate, seconds)
    times = {name: rows["ts"].cast(pa.int64()).to_numpy() for name, rows in streams.items()}
    run, before = _query(budget).local(threads=1), 0.0
    for now, arrivals in in_steps(streams, times, seconds * 1_000_000, STEP_US):
        if now - STEP_US == seconds * 500_000:
            before = thread_time()
        for name, rows in arrivals.items():
            run.push(name, rows)
        if told:
            run.tick(now)
    return (thread_time() - before) / (seconds / 2), run.metrics()["budget"]


def _is_whole() -> bool:
    """Whether a budget that is enough changes nothing."""
    streams = correlated_streams({"A": 0.0, "B": 0.5}, 50, 6)
    counts = []
    for budget in (None, dv.budget(cpu=1.0)):
        run = _query(budget).local(threads=1)
        counts.append(sum(run.push(name, rows).num_rows for name, rows in streams.items()) + run.close().num_rows)
    return bool(counts[0] == counts[1])


def _query(budget: dv.Budget | None) -> dv.Query:
    a, b = (dv.stream(name, time="ts", window="2 seconds", schema=SCHEMA) for name in "AB")
    return dv.join(a, b, on="ABS(A.x - B.x) <= 1", select="A.ts AS a", algorithm="scan", budget=budget)
