"""A week of two streams, made small: days and nights, bursts, a stream that falls silent, a key that grows hot.

for chunk in week(hours=168, seed=1): chunk.rows["A"], chunk.now_us
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

SECOND = 1_000_000
MINUTES = 10  # of event time in a chunk
PER_HOUR = 60 // MINUTES
SCHEMA = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64(), "n": pa.int64(), "row": pa.int64()})
KEYS, HOT = 2_000, 7


@dataclass(frozen=True)
class Chunk:
    """Ten minutes: rows by stream, and the time of day at their end."""

    hour: float
    rows: dict[str, pa.Table]
    now_us: int


def week(hours: int, seed: int, rate: float) -> Iterator[Chunk]:
    """``rate``: rows of a stream in ten minutes of an average hour."""
    random = np.random.default_rng(seed)
    silent_until, first = 0.0, 0
    for at in range(hours * PER_HOUR):
        hour = at / PER_HOUR
        day_and_night = 1 + 0.8 * np.sin(2 * np.pi * (hour - 9) / 24)
        burst = 5 if at % 37 == 0 else 1
        if at % 101 == 100:
            silent_until = hour + 2
        rows = {}
        for name in "AB":
            hot = 12 <= hour % 24 < 17  # when there are rows enough for a key to be hot
            count = int(random.poisson(rate * day_and_night * burst * (2 if hot else 1)))
            if name == "A" or hour >= silent_until:
                rows[name] = _rows(random, count, at, first, hot)
            first += count
        yield Chunk(hour, rows, (at + 1) * MINUTES * 60 * SECOND)


def _rows(random: np.random.Generator, count: int, at: int, first: int, hot: bool) -> pa.Table:
    """Out of order by up to a minute; a hot key has half of the rows."""
    span = MINUTES * 60 * SECOND
    times = np.sort(random.integers(0, span, count)) + at * span - random.integers(0, 60 * SECOND, count)
    keys = random.integers(0, KEYS, count)
    if hot:
        keys = np.where(random.random(count) < 0.5, HOT, keys)
    columns = [times, keys, random.integers(0, 50, count), np.arange(first, first + count)]
    return pa.table(
        [pa.array(column).cast(field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


class Readings:
    """What was measured, by name and hour."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[float, float]]] = {}

    def note(self, hour: float, **values: float) -> None:
        for name, value in values.items():
            self._found.setdefault(name, []).append((hour, value))

    def of(self, name: str) -> list[float]:
        return [value for _, value in self._found.get(name, [])]

    def check_flat(self, factor: float, spare: Mapping[str, float]) -> None:
        """In the last quarter nothing is anywhere higher than in the second, within a factor and something to spare."""
        for what, found in self._found.items():
            end = found[-1][0]
            early = max(value for hour, value in found if end / 4 <= hour < end / 2)
            late = max(value for hour, value in found if hour >= end * 3 / 4)
            assert late <= early * factor + spare.get(what, 0), f"{what}: {early:,.0f} early, {late:,.0f} late"
