"""A CPU budget in micro-batches, as on Spark: a new controller for every batch, its decisions in the state."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.steered import Steered
from dovetail.engine.operator.engine import Engine
from dovetail.testing import correlated_streams

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
SECONDS, SHARE = 120, 0.5


def query(cpu: float = SHARE) -> dv.Query:
    a, b = (dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "AB")
    return dv.join(a, b, on="ABS(A.x - B.x) <= 1", select="A.ts AS a", algorithm="scan", budget=dv.budget(cpu=cpu))


class Batches:
    """One bucket's engine, batch after batch, on a machine that makes so many comparisons a second."""

    def __init__(self, capacity: float) -> None:
        self.engine, self._capacity = Engine(query().plan), capacity
        self._control = b""
        self.throttles: list[float] = []
        self.used: list[float] = []
        self.results: list[int] = []

    def meter(self) -> float:
        (readings,) = self.engine.statistics()
        return readings.shedding.counts["compared"] / self._capacity  # type: ignore[union-attr]

    def batch(self, rows: dict[str, Any], now_us: int) -> None:
        operator = Steered(self.engine, self.engine.plan.query, self.meter)
        if self._control:
            operator.controller.restore(json.loads(self._control))
        began = self.meter()
        operator.controller.begin_batch()
        found = [*operator.tick(now_us), *operator.push(rows)]
        operator.controller.end_batch()
        operator.operator.changes()
        self._control = json.dumps(operator.controller.header()).encode()
        self.used.append(self.meter() - began)
        assert operator.controller.cpu is not None
        self.throttles.append(operator.controller.cpu.control.throttle.z)
        self.results.append(sum(batch.num_rows for batch in found))


def cut(streams: dict[str, pa.Table], before: int, now: int) -> dict[str, pa.Table]:
    """What comes between two moments."""
    found = {}
    for name, rows in streams.items():
        first, last = np.searchsorted(rows["ts"].cast(pa.int64()).to_numpy(), [before, now]).tolist()
        found[name] = rows.slice(first, last - first)
    return found


def played(period_us: int, streams: dict[str, pa.Table], capacity: float) -> Batches:
    batches = Batches(capacity)
    for before, now in pairwise(range(0, SECONDS * 1_000_000 + 1, period_us)):
        batches.batch(cut(streams, before, now), now)
    return batches


@pytest.mark.parametrize("longer", [1.0, 1.13])
def test_it_is_stable_whatever_the_length_of_batches(longer: float) -> None:
    streams = correlated_streams({"A": 0.0, "B": 3.0}, rate=40, seconds=SECONDS)
    needed = 2 * 40 * 400  # comparisons per second of the whole join
    capacity = 0.3 * needed / SHARE
    made = {}
    for period_us in (500_000, 2_000_000, 10_000_000):
        length_us = round(period_us * longer)
        batches = played(length_us, streams, capacity)
        half = len(batches.used) // 2
        rest_s = (len(batches.used) - half) * length_us / 1e6
        assert sum(batches.used[half:]) <= 1.1 * SHARE * rest_s, period_us
        late = batches.throttles[half:]
        assert max(late) <= 3 * min(late), (period_us, late)
        made[period_us] = sum(batches.results[half:]) / rest_s
    assert min(made.values()) >= 0.8 * max(made.values()), made


def test_a_controller_made_anew_does_not_take_old_rows_for_fast_ones() -> None:
    streams = correlated_streams({"A": 0.0, "B": 3.0}, rate=400, seconds=20)
    batches = Batches(capacity=100_000)
    for second in range(20):
        batches.batch(cut(streams, second * 1_000_000, (second + 1) * 1_000_000), (second + 1) * 1_000_000)
    # half a core for a second a batch; what was saved up in an interval at the beginning is long used up
    assert max(batches.used[-8:]) <= 1.5 * SHARE
