"""A CPU budget at run time, on simulated machines: time kept, the best part found, lags followed, choices obeyed."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dovetail as dv
from dovetail.kernel import cpu_time
from dovetail.model.shedding import Pick, Shed, slice_edges
from dovetail.testing import Overloaded, assert_subset, correlated_streams, overload

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "x": pa.float64()})
FAST = dv.harvest(interval="1 second")


def query(names: str = "AB", budget: dv.Budget | None = None, **options: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="4 seconds", schema=SCHEMA) for name in names]
    on = " AND ".join(f"ABS({a}.x - {b}.x) <= 1" for at, a in enumerate(names) for b in names[at + 1 :])
    select = ", ".join(f"{name}.ts AS {name}, {name}.x AS {name}x" for name in names)
    return dv.join(*streams, on=on, select=select, budget=budget, **{"algorithm": "scan"} | options)


def needed(names: str, streams: dict[str, pa.Table], seconds: float) -> float:
    """Comparisons per second of the whole join."""
    log = overload(query(names, dv.budget(cpu=1.0)), streams, capacity=1e15)
    return float(log.metrics["comparisons"] / seconds)


LAGS = {"A": 0.0, "B": 2.0}


def test_harvesting_finds_the_lag_and_loses_little() -> None:
    streams = correlated_streams(LAGS, rate=50, seconds=40)
    whole = overload(query(budget=dv.budget(cpu=1.0)), streams, capacity=1e15)
    full = whole.metrics["comparisons"] / 40
    log = overload(query(budget=dv.budget(cpu=1.0, policy=FAST)), streams, capacity=0.3 * full)
    assert_subset(log.rows, whole.rows)
    assert log.results(since=20) > 0.9 * whole.results(since=20)
    assert log.metrics["used_s"] <= 1.1 * log.metrics["given_s"]
    best = log.metrics["harvest"]["A"]["B"]
    assert best["edges_us"][best["ranking"][0]] in (1_600_000, 2_000_000)
    assert log.metrics["comparisons_skipped"] > 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("load", [3, 50])
def test_the_time_given_is_kept_whatever_comes(share: float, load: float) -> None:
    streams = correlated_streams(LAGS, rate=100, seconds=20)
    capacity = needed("AB", streams, 20) / load / share
    log = overload(query(budget=dv.budget(cpu=share, policy=FAST)), streams, capacity)
    # an interval's worth may be saved up, so it may be used twice within the first
    assert log.metrics["used_s"] <= 1.1 * (log.metrics["given_s"] + share)
    assert log.compared(since=10) / capacity <= 1.1 * share * 10  # once it is steady
    assert log.metrics["results"] > 0


def test_what_even_the_smallest_setting_cannot_do_is_dropped_at_the_door_and_counted() -> None:
    streams = correlated_streams(LAGS, rate=100, seconds=20)
    policy = dv.harvest(interval="1 second", buffer=20)
    log = overload(query(budget=dv.budget(cpu=1.0, policy=policy)), streams, needed("AB", streams, 20) / 500)
    assert sum(log.metrics["dropped"].values()) > 0
    assert log.metrics["used_s"] <= 1.1 * (log.metrics["given_s"] + 1)


def test_the_door_opens_again_also_where_few_tuples_come() -> None:
    streams = correlated_streams(LAGS, rate=3, seconds=60)
    burst = correlated_streams(LAGS, rate=200, seconds=10)
    both = {name: pa.concat_tables([burst[name], _later(streams[name], 10)]) for name in streams}
    log = overload(query(budget=dv.budget(cpu=1.0, policy=FAST)), both, capacity=50)
    assert min(log.throttles) <= 0.011
    assert sum(log.metrics["dropped"].values()) > 1000
    assert log.metrics["kept"] == {"A": 1.0, "B": 1.0}
    assert log.results(since=60) > 0


def _later(rows: pa.Table, seconds: int) -> pa.Table:
    return rows.set_column(0, "ts", pc.add(rows["ts"], pa.scalar(seconds * 1_000_000, pa.duration("us"))))


def test_a_lag_that_moves_is_found_again() -> None:
    streams = correlated_streams(LAGS, rate=50, seconds=60, moves={"A": 0.0, "B": 1.0})
    whole = overload(query(budget=dv.budget(cpu=1.0)), streams, capacity=1e15)
    full = whole.metrics["comparisons"] / 60
    log = overload(query(budget=dv.budget(cpu=1.0, policy=FAST)), streams, capacity=0.3 * full)
    # five intervals after the move, and from then on
    assert log.results(since=35) > 0.8 * whole.results(since=35)


def test_drop_keeps_as_the_static_optimum_says() -> None:
    streams = correlated_streams(LAGS, rate=50, seconds=30)
    full = needed("AB", streams, 30)
    log = overload(query(budget=dv.budget(cpu=1.0, policy="drop")), streams, capacity=0.3 * full)
    kept = log.metrics["kept"]
    assert kept["A"] * kept["B"] == pytest.approx(0.3, rel=0.25)
    assert kept["A"] == pytest.approx(kept["B"], rel=0.2)  # equal rates, so Kang's halves
    assert log.metrics["harvest"] is None


def test_min_completeness_comes_before_the_budget_and_says_so() -> None:
    streams = correlated_streams(LAGS, rate=50, seconds=30, deviations={"A": 400.0, "B": 400.0})
    full = needed("AB", streams, 30)
    budget = dv.budget(cpu=1.0, policy=FAST, min_completeness=0.9)
    log = overload(query(budget=budget), streams, capacity=0.2 * full)
    assert log.metrics["short"]
    assert log.metrics["completeness"] >= 0.88
    assert log.metrics["used_s"] > log.metrics["given_s"]
    enough = overload(query(budget=budget), streams, capacity=2 * full)
    assert not enough.metrics["short"]


def test_strict_stops_instead() -> None:
    streams = correlated_streams(LAGS, rate=50, seconds=20, deviations={"A": 400.0, "B": 400.0})
    budget = dv.budget(cpu=1.0, policy=FAST, min_completeness=0.9, strict=True)
    with pytest.raises(dv.BudgetError, match=r"cannot keep 0\.9 of its results with 1 of a core; give it more CPU"):
        overload(query(budget=budget), streams, needed("AB", streams, 20) / 5)


@pytest.mark.parametrize("algorithm", ["scan", "sorted", "hash"])
def test_skipped_slices_are_work_not_done(algorithm: str) -> None:
    """Real time: with a tenth of each window chosen, the same arrivals take a fraction of the time."""
    streams = {name: dense(name) for name in "AB"}
    spent = {}
    for chosen in (1, 10):
        on = "ABS(A.k - B.k) <= 0" if algorithm == "scan" else "A.k = B.k"
        inputs = [dv.stream(n, time="ts", window="10 seconds", schema=rows.schema) for n, rows in streams.items()]
        run = dv.join(*inputs, on=on, algorithm=algorithm, select="A.k", budget=dv.budget(cpu=1.0)).local()
        edges = slice_edges(10_000_000, 10_000_000, 1_000_000)
        ages = (*range(10), *range(10, 20))
        pick = Pick(edges, (*ages[10:], *ages[:10]), chosen)
        (readings,) = run.operator.statistics()
        readings.shedding._sample = 0.0  # type: ignore[union-attr]
        shed = Shed(0.1 * chosen, {"A": {"B": pick}, "B": {"A": pick}})
        run.operator.adopt(replace(readings.decision, shed=shed))  # type: ignore[attr-defined]
        began = cpu_time()
        for start in range(0, 20_000, 2000):
            for name, rows in streams.items():
                run.push(name, rows.slice(start, 2000))
        spent[chosen] = cpu_time() - began
    assert spent[1] < 0.6 * spent[10], spent


def dense(name: str) -> pa.Table:
    times = pa.array(range(0, 20_000_000, 1000)).cast(pa.timestamp("us"))
    return pa.table({"ts": times, "k": pa.array([at * 7919 % 50 for at in range(20_000)])})


def test_an_ordered_output_stays_in_order_under_a_budget() -> None:
    streams = correlated_streams(LAGS, rate=50, seconds=15)
    log: Overloaded = overload(query(budget=dv.budget(cpu=1.0, policy=FAST), order="hold"), streams, capacity=2000)
    times = log.rows["result_time"]
    assert log.rows.num_rows > 0
    assert pc.all(pc.less_equal(times[:-1], times[1:])).as_py()


def test_a_run_goes_on_from_a_snapshot_with_its_decisions_and_its_waiting_rows() -> None:
    streams = correlated_streams(LAGS, rate=100, seconds=12)
    bound = query(budget=dv.budget(cpu=0.0001, policy=FAST))
    run = bound.local()
    for second in range(10):
        for name, rows in streams.items():
            run.push(name, rows.filter(pc.equal(pc.divide(rows["ts"].cast("int64"), 1_000_000), second)))
        run.tick((second + 1) * 1_000_000)
    before = run.metrics()["budget"]
    again = bound.local(snapshot=run.snapshot())
    after = again.metrics()["budget"]
    for part in ("throttle", "kept", "harvest", "dropped", "results", "missed", "histograms"):
        assert after[part] == before[part], part
    assert {n: s["waiting"] for n, s in again.metrics()["streams"].items()} == {
        n: s["waiting"] for n, s in run.metrics()["streams"].items()
    }


def test_what_waits_is_thinned_like_what_will_come() -> None:
    run = query(budget=dv.budget(cpu=0.0001, policy=dv.harvest(buffer=10_000))).local()
    run.tick(0)
    run.push("A", correlated_streams(LAGS, rate=1000, seconds=2)["A"])
    before = run.metrics()["streams"]["A"]["waiting"]
    assert before > 1000
    (readings,) = run.operator.statistics()
    run.operator.adopt(replace(readings.decision, shed=Shed(kept={"A": 0.1, "B": 1.0})))  # type: ignore[attr-defined]
    run.tick(0)
    shedding = readings.shedding
    assert shedding is not None
    left = run.metrics()["streams"]["A"]["waiting"]
    assert left == pytest.approx(0.1 * before, rel=0.3)
    assert run.metrics()["budget"]["dropped"] == {"A": before - left}
    assert set(shedding.weights.logs["A"].rates(readings.line.inputs.gate.piles["A"].times).tolist()) == {0.1}
    again = query(budget=dv.budget(cpu=0.0001, policy=dv.harvest(buffer=10_000))).local(snapshot=run.snapshot())
    assert again.metrics()["streams"]["A"]["waiting"] == left


def test_nothing_made_of_what_was_dropped_is_not_complete() -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    streams = [dv.stream(name, time="ts", window="20 seconds", schema=schema) for name in "AB"]
    policy = dv.harvest(interval="1 second", buffer=1)
    run = dv.join(*streams, on="A.k = B.k", select="A.k", budget=dv.budget(cpu=1e-5, policy=policy)).local()
    run.tick(0)
    made = 0
    for second in range(20):
        for name in "AB":
            made += run.push(name, [{"ts": second * 1_000_000 + at, "k": 1} for at in range(10)]).num_rows
        made += run.tick((second + 1) * 1_000_000).num_rows
    said = run.metrics()["budget"]
    assert sum(said["dropped"].values()) > 350
    assert said["completeness_low"] <= made / 40_000
    assert said["missed_low"] <= 40_000 - made <= said["missed_high"]
    assert said["completeness"] < 0.5
