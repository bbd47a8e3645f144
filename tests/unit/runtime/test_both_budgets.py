"""Too little CPU and too little memory at once: both limits are kept, and each choice knows of the other."""

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.runtime.local import Run
from dovetail.testing import assert_subset, correlated_streams, overload

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
LAGS = {"A": 0.0, "B": 2.0}
FAST = dv.harvest(interval="1 second")
FULL = 2 * 10 * 50  # tuples of both windows


def query(names: str = "AB", **limits: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in names]
    on = " AND ".join(f"ABS({names[0]}.x - {other}.x) <= 1" for other in names[1:])
    return dv.join(*streams, on=on, select=f"{names[0]}.x", algorithm="scan", budget=dv.budget(**limits))


def loaded(names: str, seed: int = 0, **options: Any) -> tuple[dict[str, pa.Table], Any, float]:
    """Streams, the whole join of them, and the comparisons per second that takes."""
    lags = {name: LAGS.get(name, 0.0) for name in names}
    streams = correlated_streams(lags, rate=50, seconds=30, seed=seed, **options)
    whole = overload(query(names, cpu=1.0), streams, capacity=1e15)
    return streams, whole, whole.metrics["comparisons"] / 30


@pytest.mark.parametrize("names", ["AB", "ABC"])
@pytest.mark.parametrize("policy", [FAST, "drop"], ids=["harvest", "drop"])
def test_both_limits_are_kept_and_nothing_wrong_comes_out(names: str, policy: Any, monkeypatch: Any) -> None:
    held: list[int] = []
    tick = Run.tick

    def watched(self: Run, now: Any) -> pa.Table:
        rows = tick(self, now)
        held.append(self.metrics()["memory"]["held"])
        return rows

    streams, whole, full = loaded(names)
    monkeypatch.setattr(Run, "tick", watched)
    log = overload(query(names, cpu=1.0, memory=dv.tuples(300), policy=policy), streams, capacity=0.3 * full)
    assert_subset(log.rows, whole.rows)
    assert max(held) <= 300
    assert log.metrics["used_s"] <= 1.1 * log.metrics["given_s"] + 1
    assert log.rows.num_rows > 0
    assert log.metrics["completeness"] < 1


def test_tuples_that_no_arrival_looks_at_need_not_be_kept() -> None:
    """B's tuples are two seconds old when their partners come; with slices chosen there, half of the memory will do."""
    streams, whole, full = loaded("AB")
    small: dict[str, Any] = {"memory": dv.tuples(400)}
    both = overload(query(cpu=1.0, policy=FAST, **small), streams, capacity=0.3 * full)
    blind = query(**small).local()
    results = 0
    for at in range(300):
        for name, rows in streams.items():
            times = rows["ts"].cast(pa.int64()).to_numpy()
            some = rows.filter(pa.array((times >= at * 100_000) & (times < (at + 1) * 100_000)))
            found = blind.push(name, some).num_rows
            results += found if at >= 150 else 0
    assert both.results(since=15) > 0.9 * whole.results(since=15)
    assert both.results(since=15) >= results


def test_two_streams_share_as_kang_says() -> None:
    """All of the memory to one stream, which comes in just fast enough to fill it; the CPU goes to the other."""
    streams, _, full = loaded("AB", deviations={"A": 400.0, "B": 400.0})
    log = overload(query(cpu=1.0, memory=dv.tuples(50), policy="drop"), streams, capacity=0.05 * full)
    kept = sorted(log.metrics["kept"].values())
    assert kept[0] < 0.35
    assert kept[1] > 2 * kept[0]


def test_memory_alone_still_refuses_to_drop() -> None:
    with pytest.raises(dv.QueryError, match="too little memory takes 'harvest', 'spill' or 'fail'"):
        query(memory=dv.tuples(50), policy="drop")


def test_a_cpu_budget_does_not_spill() -> None:
    with pytest.raises(dv.QueryError, match="too little CPU takes 'harvest' or 'drop'"):
        query(cpu=0.5, memory=dv.tuples(50), policy="spill")
