"""How long results take under each schedule, on the wall clock: bursts of arrivals, windows of different sizes.

A run that owns its time takes a burst in and works it off in pieces. The response of a row is the time from the burst
to the end of the piece that made it certain. The schedules take turns, burst by burst, so that a busy machine is busy
for all of them.
"""

import time
from collections import defaultdict
from statistics import mean

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.runtime.shared import SharedRun

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
WINDOWS = (1, 10, 60)  # seconds
SCHEDULES = ("largest", "smallest", "greedy")
RATE, BURST_S = 200, 4  # tuples per second and stream, and how many seconds come at once


def run(settings: Settings) -> Report:
    """Mean response by schedule and window."""
    limit_arrow()
    runs = {schedule: _shared(schedule).local(eager=False) for schedule in SCHEDULES}
    waits: dict[tuple[str, str], list[float]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    bursts = settings.size(60, 20)
    for burst in range(bursts):
        for schedule, each in runs.items():
            found = _play(each, burst)
            for name, responses in found.items():
                counts[schedule] += len(responses)
                if burst >= bursts // 3:
                    waits[schedule, name] += responses
    response = {s: {f"{w} s": round(1e3 * mean(waits[s, f"{w} s"]), 2) for w in WINDOWS} for s in SCHEDULES}
    overall = {s: round(mean(response[s].values()), 2) for s in SCHEDULES}
    fields = {"results_equal": len(set(counts.values())) == 1, "response_ms": response, "mean_ms": overall}
    fields |= {"gain_over_largest": {s: round(overall["largest"] / overall[s], 2) for s in SCHEDULES}}
    lines = [(s, *response[s].values(), overall[s]) for s in SCHEDULES]
    header = ("schedule", *(f"window {w} s, ms" for w in WINDOWS), "mean of the queries, ms")
    return Report("Share: response by schedule", header, lines, fields)


def _shared(schedule: str) -> dv.SharedQuery:
    a, b = (dv.stream(name, time="ts", schema=SCHEMA) for name in "AB")
    joins = [
        dv.join(a, b, on="A.k = B.k", select="A.k", window=f"{w} s", algorithm="scan").named(f"{w} s") for w in WINDOWS
    ]
    return dv.share(*joins, schedule=schedule)


def _play(run: SharedRun, burst: int) -> dict[str, list[float]]:
    """Take a burst in, work it off piece by piece: how long the rows of each query took."""
    random = np.random.default_rng(burst)
    first = burst * BURST_S * 1_000_000
    for name in "AB":
        times = np.sort(random.integers(first, first + BURST_S * 1_000_000, RATE * BURST_S))
        keys = random.integers(0, 500, len(times))
        run.push(name, pa.table({"ts": pa.array(times).cast(SCHEMA.field(0).type), "k": keys}))
    began, found = time.perf_counter(), defaultdict[str, list[float]](list)
    while run.suspended:
        rows = run.work(0.0005)
        spent = time.perf_counter() - began
        for name in rows["query"].to_pylist():
            found[name].append(spent)
    return found
