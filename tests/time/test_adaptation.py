"""Streams that change, and plans that follow within a few seconds of the streams' time; rows as DuckDB counts them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.plan.calibrate import load_weights

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
STEP_S = 0.25
Rates = dict[str, float]
Keys = dict[str, tuple[int, int]]


@pytest.fixture(autouse=True)
def typical_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    load_weights.cache_clear()


class Streams:
    """Rows second by second, and all of them in the end."""

    def __init__(self, names: str, on: str, window_s: float) -> None:
        self._window_s, self._on = window_s, on
        window = f"{window_s * 1000:.0f} milliseconds"
        streams = [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in names]
        times = ", ".join(f"{name}.ts AS {name.lower()}_ts" for name in names)
        self.query = dv.join(*streams, on=on, select=times)
        self.run = self.query.local()
        self._random = np.random.default_rng(5)
        self._rows: dict[str, list[pa.Table]] = {name: [] for name in names}
        self.results = 0
        self.now = 0.0

    def play(self, seconds: float, rates: Rates, keys: Keys, until: Callable[[], bool] | None = None) -> float:
        """Go on for so long, or until something has happened; returns the time it took."""
        start = self.now
        while self.now < start + seconds and not (until and until()):
            for place, (name, rate) in enumerate(rates.items()):
                rows = self._made(rate, place, keys[name])
                if rows.num_rows:
                    self._rows[name].append(rows)
                    self.results += self.run.push(name, rows).num_rows
            self.now += STEP_S
        return self.now - start

    def _made(self, rate: float, place: int, keys: tuple[int, int]) -> pa.Table:
        numbers = np.arange(round(self.now * rate), round((self.now + STEP_S) * rate))
        times = pa.array((numbers / rate * 1e6).astype(np.int64) + place).cast(pa.timestamp("us"))
        columns = [self._random.integers(0, count, len(numbers)) for count in keys]
        return pa.table([times, *columns], schema=SCHEMA)

    def algorithms(self) -> dict[str, Any]:
        found: dict[str, Any] = self.run.metrics()["plan"]["algorithms"]
        return found

    def orders(self) -> dict[str, Any]:
        found: dict[str, Any] = self.run.metrics()["plan"]["orders"]
        return found

    def expected(self) -> int:
        """The number of results by DuckDB, over the whole history."""
        db = duckdb.connect()
        for name, parts in self._rows.items():
            db.register(name, pa.concat_tables(parts))
        members = ", ".join(f"epoch_us({name}.ts)" for name in self._rows)
        span = f"greatest({members}) - least({members}) <= {self._window_s * 1e6:.0f}"
        found = db.sql(f"SELECT count(*) FROM {', '.join(self._rows)} WHERE {self._on} AND {span}").fetchall()
        return int(found[0][0])


def test_rates_that_swap() -> None:
    streams = Streams("ABC", "A.k = B.k AND A.k = C.k", window_s=1)
    keys = dict.fromkeys("ABC", (50, 1))
    streams.play(5, {"A": 200, "B": 2000, "C": 50}, keys)
    assert streams.orders()["A"] == ["C", "B"], "the smaller window first"
    swapped = {"A": 200.0, "B": 50.0, "C": 2000.0}
    took = streams.play(8, swapped, keys, until=lambda: streams.orders()["A"] == ["B", "C"])
    assert took < 6
    streams.play(1, swapped, keys)
    assert streams.results == streams.expected()


def test_a_key_set_that_collapses() -> None:
    streams = Streams("AB", "A.k = B.k", window_s=0.25)
    rates: Rates = {"A": 1000, "B": 1000}
    streams.play(4, rates, {"A": (100_000, 1), "B": (100_000, 1)})
    assert set(streams.algorithms().values()) == {"hash"}
    one = {"A": (1, 1), "B": (1, 1)}
    took = streams.play(8, rates, one, until=lambda: "scan" in streams.algorithms().values())
    assert took < 6
    streams.play(1, rates, one)
    assert streams.results == streams.expected()


def test_selectivities_that_drift() -> None:
    streams = Streams("ABC", "A.k = B.k AND A.j = C.j", window_s=0.5)
    rates: Rates = dict.fromkeys("ABC", 400.0)
    streams.play(4, rates, {"A": (1000, 20), "B": (1000, 1), "C": (1, 20)})
    assert streams.orders()["A"] == ["B", "C"]
    drifted: Keys = {"A": (20, 1000), "B": (20, 1), "C": (1, 1000)}
    took = streams.play(8, rates, drifted, until=lambda: streams.orders()["A"] == ["C", "B"])
    assert took < 6
    streams.play(1, rates, drifted)
    assert streams.orders()["B"] == ["A", "C"], "C is tied to A alone"
    assert streams.results == streams.expected()


@pytest.mark.parametrize("near", ["A.j < B.j - 9990", "ABS(A.j - B.j) <= 2"])
def test_few_keys_and_a_narrow_band_in_a_long_window_that_has_just_begun(near: str) -> None:
    """A hash bucket leads through a third of the window, the band leaves a ten-thousandth of that."""
    streams = Streams("AB", f"A.k = B.k AND {near}", window_s=600)
    streams.play(12, {"A": 200, "B": 200}, {"A": (3, 10_000), "B": (3, 10_000)})
    assert set(streams.algorithms().values()) == {"sorted"}
    assert streams.results == streams.expected()


def test_many_keys_and_a_band() -> None:
    streams = Streams("AB", "A.k = B.k AND ABS(A.j - B.j) <= 2", window_s=10)
    streams.play(12, {"A": 200, "B": 200}, {"A": (100_000, 10), "B": (100_000, 10)})
    assert set(streams.algorithms().values()) == {"hash"}
    assert streams.run.metrics()["plan"]["version"] == 1
    assert streams.results == streams.expected()


def test_plans_do_not_flutter() -> None:
    streams = Streams("AB", "A.k = B.k", window_s=1)
    streams.play(20, {"A": 2000, "B": 1000}, {"A": (500, 1), "B": (500, 1)})
    assert streams.run.metrics()["plan"]["version"] <= 1


def test_long_blocks_that_run_ahead_of_each_other_do_not_make_a_stream_look_silent() -> None:
    """Ten seconds of A, then ten seconds of B: between them B's window is empty, and still it stays hashed."""
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    streams = [dv.stream(name, time="ts", window="10 seconds", schema=schema) for name in "AB"]
    run = dv.join(*streams, on="A.k = B.k").local()
    for second in range(0, 60, 10):
        for name in "AB":
            times = second * 1_000_000 + np.arange(0, 10_000_000, 1000)
            run.push(name, pa.table({"ts": times, "k": times % 997}).cast(schema))
            assert run.plan_report()["streams"][name]["algorithm"] == "hash"
