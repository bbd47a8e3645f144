"""Queries that share a CPU budget: each one's band holds the truth, and a result weighs as many as get it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.runtime.shared import SharedRun
from dovetail.testing import correlated_streams
from dovetail.testing.metered import MeteredRun
from dovetail.testing.overload import played

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
SECONDS = 15


class SharedMeteredRun(MeteredRun):
    """Queries with one budget on a made-up CPU; its account is that of each query."""

    def __init__(self, queries: list[dv.Query], capacity: float) -> None:
        super().__init__(queries[0], capacity)
        self._begun, self._shared = False, dv.share(*queries)
        self.run: Any = SharedRun(self._shared.groups, meter=self.used_s)
        self._begun = True

    @property
    def schema(self) -> pa.Schema:
        return self._shared.schema

    def metrics(self) -> dict[str, Any]:
        return dict(self.run.metrics()["queries"], comparisons=self.compared)


def query(name: str, window: float, lag: str = "A.x", policy: Any = None) -> dv.Query:
    streams = [dv.stream(each, time="ts", window=f"{window} seconds", schema=SCHEMA) for each in "AB"]
    budget = dv.budget(cpu=1.0, policy=policy or dv.harvest(interval="1 second"))
    on = f"ABS(A.x - B.x) <= 5 AND {lag} >= 0"
    return dv.join(*streams, on=on, select="A.x", budget=budget, algorithm="scan").named(name)


def bands(seed: int) -> list[bool]:
    """Of each query of one random run, whether the band holds how many of its results were missed."""
    random = np.random.default_rng(seed)
    lags = {name: float(random.uniform(0, 3)) for name in "AB"}
    deviations = {name: float(random.choice([2, 20, 200])) for name in "AB"}
    streams = correlated_streams(lags, float(random.uniform(20, 60)), SECONDS, deviations, seed)
    policy = "drop" if random.random() < 0.3 else None
    queries = [query(f"{window} s", window, policy=policy) for window in (0.5, 2, 4)]
    whole = played(SharedMeteredRun(queries, 1e15), streams).final
    capacity = whole["comparisons"] / SECONDS * random.uniform(0.1, 0.8)
    found = played(SharedMeteredRun(queries, capacity), streams).final
    missed = {n: whole[n]["results"] - found[n]["results"] for n in (str(each.name) for each in queries)}
    return [found[name]["missed_low"] <= count <= found[name]["missed_high"] for name, count in missed.items()]


def test_the_band_of_each_query_holds_the_truth() -> None:
    held = [each for seed in range(8) for each in bands(seed)]
    assert np.mean(held) >= 0.85, held


@pytest.mark.slow
def test_the_bands_hold_the_truth_in_a_hundred_runs() -> None:
    held = [each for seed in range(100) for each in bands(1000 + seed)]
    assert np.mean(held) >= 0.9, np.flatnonzero(~np.array(held))


def test_a_result_counts_once_for_every_query_that_gets_it() -> None:
    streams = correlated_streams({"A": 0.0, "B": 0.0}, 20, 5, seed=1)
    queries = [query("all", 4), *(query(f"young {at}", 0.5) for at in range(3))]
    run = SharedMeteredRun(queries, 1e15)
    found = played(run, streams).final
    assert run.shedding.estimate.produced == sum(found[str(each.name)]["results"] for each in queries)
    assert run.shedding.estimate.produced > 2 * found["all"]["results"]
