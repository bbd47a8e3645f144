"""Streams made up to measure with: rates, keys, windows and block sizes as wanted, the same rows every time.

Setting((1000.0, 100.0), keys=50, window=5000, block=100)      A brings 1,000 tuples per second, B a tenth of that
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
import pyarrow as pa

from dovetail.model.algorithm import Algorithm
from dovetail.model.expression import Column
from dovetail.model.output import Output
from dovetail.model.predicate import Band, Equality, Predicate
from dovetail.model.query import JoinQuery
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})
SECOND = 1_000_000  # in microseconds
_PARTS = 8  # measured one after the other, so that a pause of the machine meets one

Pushes = list[tuple[str, pa.RecordBatch]]


@dataclass(frozen=True)
class Workload:
    """Rows that fill the windows, and parts to be timed, each of so many seconds of the streams."""

    filling: Mapping[str, pa.RecordBatch]
    parts: list[Pushes]
    part_s: float


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
            name: StreamStatistics(rate, rate * self.window_s, max(1.0, rate * self.span_s), window_s=self.window_s)
            for name, rate in zip(self.names, self.rates, strict=True)
        }
        keys = {f"{name}.k": float(self.keys) for name in self.names}
        ties = {(frozenset({a}), b): 1 / self.keys for a in self.names for b in self.names if a != b}
        return Statistics(streams, keys, ties if self.band else {}, leads=self._leads())

    def _leads(self) -> dict[tuple[str, str], float]:
        """Streams take turns: those named before have come to the end of a turn, those after to its start."""
        gaps_s = {name: 1 / rate for name, rate in zip(self.names, self.rates, strict=True)}
        return {
            (a, b): (0.0 if b < a else -self.span_s) - max(gaps_s[b] - gaps_s[a], 0.0) / 2
            for a in self.names
            for b in self.names
            if a != b
        }

    def pushes(self, seconds: float, seed: int = 1) -> Pushes:
        """So many seconds of the streams, cut into pushes that take turns."""
        return self._cut(self._tables(seconds, seed), 0.0, seconds)

    def workload(self, seconds: float) -> Workload:
        """So many seconds or a little more, so that all parts have as many turns of all streams."""
        turns = max(1, ceil(seconds / self.span_s - 1e-9))
        parts = min(_PARTS, turns)
        part_s = ceil(turns / parts) * self.span_s
        start_s = (int(self.window_s / self.span_s) + 1) * self.span_s
        tables = self._tables(start_s + parts * part_s, seed=1)
        filling = {
            name: rows.slice(0, int(times.searchsorted(start_s * SECOND))) for name, (times, rows) in tables.items()
        }
        starts = (start_s + at * part_s for at in range(parts))
        return Workload(filling, [self._cut(tables, start, start + part_s) for start in starts], part_s)

    def _tables(self, seconds: float, seed: int) -> dict[str, tuple[np.ndarray, pa.RecordBatch]]:
        random = np.random.default_rng(seed)
        return {
            name: self._rows(random, place, rate, seconds)
            for place, (name, rate) in enumerate(zip(self.names, self.rates, strict=True))
        }

    def _cut(self, tables: Mapping[str, tuple[np.ndarray, pa.RecordBatch]], start_s: float, stop_s: float) -> Pushes:
        cuts = np.arange(start_s, stop_s + self.span_s / 2, self.span_s) * SECOND
        places = {name: times.searchsorted(cuts) for name, (times, _) in tables.items()}
        return [
            (name, rows.slice(start, stop - start))
            for at in range(len(cuts) - 1)
            for name, (_, rows) in tables.items()
            if (stop := int(places[name][at + 1])) > (start := int(places[name][at]))
        ]

    def _rows(
        self, random: np.random.Generator, place: int, rate: float, seconds: float
    ) -> tuple[np.ndarray, pa.RecordBatch]:
        count = max(1, int(rate * seconds))
        times = ((np.arange(count) + place / 10) / rate * SECOND).astype(np.int64)
        columns = [pa.array(times).cast(pa.timestamp("us")), random.integers(0, self.keys, count), random.random(count)]
        return times, pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)
