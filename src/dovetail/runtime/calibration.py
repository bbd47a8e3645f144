"""Short runs of the real engine over made-up streams, to measure what its work costs on this machine.

Windows are filled first, then a few tens of milliseconds are timed, in parts; of several tries the fastest of each part
counts, so that what disturbs one try for a moment is not taken for the engine's. Predictions are compared with
measurements in the same way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import process_time

import pyarrow as pa

from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Engine, Stopwatch
from dovetail.model.algorithm import ALGORITHMS, Algorithm
from dovetail.plan.calibrate import Measured, fit
from dovetail.plan.cost import Weights, work
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.workload import Pushes, Setting, Workload


@dataclass(frozen=True)
class Timing:
    """One try: seconds of work and results of each part that was run; a part is so many seconds of the streams."""

    seconds: tuple[float, ...]
    results: tuple[int, ...]
    part_s: float


def measure(plan: Plan, workload: Workload, at_most_s: float = inf) -> Timing:
    """Fill the windows, then time the parts; no more of them once ``at_most_s`` are used up."""
    engine = filled(plan, workload.filling)
    seconds: list[float] = []
    results: list[int] = []
    for part in workload.parts:
        spent, made = timed(engine, part)
        seconds.append(spent)
        results.append(made)
        if sum(seconds) > at_most_s:
            break
    return Timing(tuple(seconds), tuple(results), workload.part_s)


def timed(operator: Operator, part: Pushes) -> tuple[float, int]:
    """Seconds of the processor's time, so that other processes do not count, and results."""
    started = process_time()
    made = sum(batch.num_rows for name, rows in part for batch in operator.push({name: rows}))
    return process_time() - started, made


def fastest(tries: Sequence[Timing]) -> float:
    """Seconds of work per second of the streams, every part as in its fastest try."""
    parts = min(len(each.seconds) for each in tries)
    return sum(min(each.seconds[at] for each in tries) for at in range(parts)) / (parts * tries[0].part_s)


def filled(plan: Plan, filling: Mapping[str, pa.RecordBatch], stopwatch: Stopwatch | None = None) -> Engine:
    """An engine whose windows hold these rows, which have not met each other."""
    engine = Engine(plan, stopwatch)
    for name, rows in filling.items():
        if rows.num_rows:
            engine.fill(name, rows)
    return engine


def settings() -> Iterator[tuple[Setting, Algorithm, float]]:
    """What calibration runs: settings, one structure for all streams, and tuples to time."""
    two = Setting((1000.0, 1000.0), 1000, 1000, 1000)
    for algorithm in ALGORITHMS:
        scans = algorithm == "scan"
        yield replace(two, block=1), algorithm, 200
        yield replace(two, block=10), algorithm, 1000
        yield replace(two, block=100, window=100), algorithm, 10_000
        yield replace(two, block=100, window=10), algorithm, 10_000
        yield replace(two, block=10_000, window=100, keys=100), algorithm, 40_000
        yield replace(two, block=10_000, window=10, keys=10), algorithm, 40_000
        yield two, algorithm, 20_000
        yield replace(two, keys=10), algorithm, 3000
        yield replace(two, keys=2, window=100, block=100), algorithm, 5000
        yield replace(two, keys=100_000, window=20_000), algorithm, 2000 if scans else 20_000
        yield replace(two, keys=100_000, window=200_000, block=10_000), algorithm, 200 if scans else 40_000
        if not scans:
            yield replace(two, keys=10_000, window=400_000), algorithm, 4000
        yield replace(two, keys=100, window=50_000, block=100), algorithm, 500
        yield replace(two, keys=2, window=50_000, block=10), algorithm, 40
        yield Setting((1000.0,) * 3, 1000, 1000, 100), algorithm, 10_000
        yield Setting((1000.0,) * 4, 100, 100, 100), algorithm, 5000
        yield Setting((1000.0,) * 4, 1000, 1000, 10_000), algorithm, 40_000
        yield Setting((1000.0, 10.0), 100, 10_000, 1000), algorithm, 20_000
        yield Setting((1000.0, 100.0), 2, 1000, 10_000), algorithm, 44_000
        yield Setting((10.0, 1000.0), 100, 100, 100), algorithm, 10_000
    for algorithm in ALGORITHMS:
        yield replace(two, band=True), algorithm, 10_000
        yield replace(two, band=True, window=10_000), algorithm, 2000


def calibration_runs() -> Iterator[Measured]:
    """Run every setting, and then all of them again: a slow moment of the machine then meets a setting only once."""
    runs = [
        (setting, plan_query(setting.query(dict.fromkeys(setting.names, algorithm))), tuples / sum(setting.rates))
        for setting, algorithm, tuples in settings()
    ]
    tries = [[measure(plan, setting.workload(seconds)) for setting, plan, seconds in runs] for _ in range(2)]
    for (setting, plan, _), *both in zip(runs, *tries, strict=True):
        yield Measured(work(plan, setting.statistics()), fastest(both))


def calibrate() -> Weights:
    """Measure this machine, which takes a few seconds."""
    return fit(list(calibration_runs()))
