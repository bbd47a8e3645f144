"""Short runs of the real engine over made-up streams, to measure what its work costs on this machine.

A ``Setting`` is a join of several streams on one key: rates, keys, windows, block size. Its windows are filled first,
then a few tens of milliseconds are timed. The same settings serve to compare predictions with measurements.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from time import process_time

import numpy as np
import pyarrow as pa

from dovetail.engine.engine import Engine
from dovetail.model.expression import Column
from dovetail.model.predicate import Band, Equality, Predicate
from dovetail.model.query import Algorithm, JoinQuery, Output
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.plan.calibrate import Measured, fit
from dovetail.plan.choose_algorithm import ALGORITHMS
from dovetail.plan.cost import Weights, work
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})
SECOND = 1_000_000

Pushes = list[tuple[str, pa.RecordBatch]]


@dataclass(frozen=True)
class Setting:
    """Streams named A, B, ...: tuples per second of each, distinct keys, tuples in the first window, tuples per push.

    A push of the fastest stream has ``block`` tuples, and the others push what comes in the same time. With ``band``
    the equality of keys gives way to ``|A.x - B.x| <= 0.5/keys``, which holds about as often.
    """

    rates: tuple[float, ...]
    keys: int
    window: int
    block: int
    band: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("ABCDEFGH"[: len(self.rates)])

    @property
    def window_s(self) -> float:
        return self.window / self.rates[0]

    @property
    def span_s(self) -> float:
        return self.block / max(self.rates)

    def query(self, algorithms: Mapping[str, Algorithm] | None = None) -> JoinQuery:
        """The join on the streams' common key."""
        length = TimeWindow(max(1, round(self.window_s * SECOND)))
        streams = tuple(Stream(name, SCHEMA, "ts", length) for name in self.names)
        ties = tuple(self._tie(left, right) for left, right in zip(self.names, self.names[1:], strict=False))
        columns = [Column(self.names[0], "k", pa.int64())]
        columns += [Column(name, "ts", pa.timestamp("us")) for name in self.names]
        select = tuple(Output(f"c{at}", column) for at, column in enumerate(columns))
        return JoinQuery(streams, ties, (), select, algorithm=dict(algorithms) if algorithms else "auto")

    def _tie(self, left: str, right: str) -> Predicate:
        if self.band:
            x = [Column(name, "x", pa.float64()) for name in (left, right)]
            return Band(x[0], x[1], -0.5 / self.keys, 0.5 / self.keys)
        return Equality(Column(left, "k", pa.int64()), Column(right, "k", pa.int64()))

    def statistics(self) -> Statistics:
        """What is true of the streams, exactly."""
        streams = {
            name: StreamStatistics(rate, max(rate * self.window_s, 0.01), max(1.0, rate * self.span_s))
            for name, rate in zip(self.names, self.rates, strict=True)
        }
        keys = {f"{name}.k": float(self.keys) for name in self.names}
        ties = {(frozenset({a}), b): 1 / self.keys for a in self.names for b in self.names if a != b}
        return Statistics(streams, keys, ties if self.band else {})

    def pushes(self, seconds: float, seed: int = 1) -> Pushes:
        """So many seconds of the streams, cut into pushes that take turns."""
        random = np.random.default_rng(seed)
        tables = {
            name: self._rows(random, place, rate, seconds)
            for place, (name, rate) in enumerate(zip(self.names, self.rates, strict=True))
        }
        cuts = np.arange(0, seconds + self.span_s, self.span_s) * SECOND
        places = {name: np.searchsorted(times, cuts) for name, (times, _) in tables.items()}
        return [
            (name, rows.slice(start, stop - start))
            for at in range(len(cuts) - 1)
            for name, (_, rows) in tables.items()
            if (stop := int(places[name][at + 1])) > (start := int(places[name][at]))
        ]

    def parts(self, seconds: float) -> tuple[Pushes, Pushes]:
        """What fills the windows, and so many seconds after it."""
        before = (int(self.window_s / self.span_s) + 1) * self.span_s
        everything = self.pushes(before + seconds)
        filled = sum(1 for _, rows in everything if rows.column(0)[0].value < round(before * SECOND))
        return everything[:filled], everything[filled:]

    def _rows(
        self, random: np.random.Generator, place: int, rate: float, seconds: float
    ) -> tuple[np.ndarray, pa.RecordBatch]:
        count = max(1, int(rate * seconds))
        times = ((np.arange(count) + place / 10) / rate * SECOND).astype(np.int64)
        columns = [pa.array(times).cast(pa.timestamp("us")), random.integers(0, self.keys, count), random.random(count)]
        return times, pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


@dataclass(frozen=True)
class Timing:
    """One measured run: seconds and results per second of event time, and whether all of it was run."""

    cost: float
    output_rate: float
    whole: bool = True


def measure(plan: Plan, filling: Pushes, timed: Pushes, seconds: float, at_most_s: float = inf) -> Timing:
    """Fill the windows, then time the rest; a run that has taken ``at_most_s`` already is cut short and scaled up.

    It is the processor's time, so that other processes do not count.
    """
    engine = _filled(plan, filling)
    started, results, pushed = process_time(), 0, 0
    for name, rows in timed:
        results += sum(batch.num_rows for batch in engine.push({name: rows}))
        pushed += 1
        if process_time() - started > at_most_s:
            break
    covered = seconds * pushed / len(timed)
    return Timing((process_time() - started) / covered, results / covered, pushed == len(timed))


def _filled(plan: Plan, filling: Pushes) -> Engine:
    engine = Engine(plan)
    for stream in plan.query.names:
        before = [rows for name, rows in filling if name == stream]
        if before:
            engine.fill(stream, pa.Table.from_batches(before).combine_chunks().to_batches()[0])
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
        yield two, algorithm, 20_000
        yield replace(two, keys=10), algorithm, 3000
        yield replace(two, keys=2, window=100, block=100), algorithm, 5000
        yield replace(two, keys=100_000, window=20_000), algorithm, 2000 if scans else 20_000
        yield replace(two, keys=100_000, window=200_000, block=10_000), algorithm, 200 if scans else 40_000
        yield replace(two, keys=100, window=50_000, block=100), algorithm, 500
        yield Setting((1000.0,) * 3, 1000, 1000, 100), algorithm, 10_000
        yield Setting((1000.0,) * 4, 100, 100, 100), algorithm, 5000
        yield Setting((1000.0, 10.0), 100, 10_000, 1000), algorithm, 20_000
        yield Setting((10.0, 1000.0), 100, 100, 100), algorithm, 10_000
    for algorithm in ALGORITHMS:
        yield replace(two, band=True), algorithm, 10_000
        yield replace(two, band=True, window=10_000), algorithm, 2000


def calibration_runs() -> Iterator[Measured]:
    """Run every setting; the faster of two tries counts."""
    for setting, algorithm, tuples in settings():
        plan = plan_query(setting.query(dict.fromkeys(setting.names, algorithm)))
        seconds = max(tuples / sum(setting.rates), setting.span_s)
        filling, timed = setting.parts(seconds)
        tries = (measure(plan, filling, timed, seconds) for _ in range(2))
        best = min(timing.cost for timing in tries)
        yield Measured(work(plan, setting.statistics()), best)


def calibrate() -> Weights:
    """Measure this machine, which takes a few seconds."""
    return fit(list(calibration_runs()))
