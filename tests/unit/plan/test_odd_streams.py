"""Streams that are wrong, empty, all alike or not tied at all: sane plans, no division by zero, assumptions said."""

import math

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.replan import Replan
from dovetail.engine.operator.engine import Engine
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.plan.choose_plan import Planner, choose_plan, decision_of
from dovetail.plan.cost import Weights, cost
from dovetail.plan.report import plan_report
from dovetail.plan.split_operator import split_operator

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
ODD = [0.0, 1e-12, 1.0, 1e15]


def join(names: str, on: str, window: str = "1 second") -> dv.Query:
    streams = [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in names]
    return dv.join(*streams, on=on, select=f"{names[0]}.k")


def rows(second: int, count: int = 50, keys: int = 1) -> pa.Table:
    times = second * 1_000_000 + np.arange(count) * (1_000_000 // count)
    return pa.table([pa.array(times).cast(pa.timestamp("us")), times % keys, times % keys], schema=SCHEMA)


def finite(values: object) -> bool:
    if isinstance(values, dict):
        return all(finite(value) for value in values.values())
    if isinstance(values, list):
        return all(finite(value) for value in values)
    return not isinstance(values, float) or math.isfinite(values)


@pytest.mark.parametrize("on", ["A.k = B.k AND B.j = C.j", "A.k < B.k AND B.j = C.j", "TRUE"])
@pytest.mark.parametrize("rate", ODD)
@pytest.mark.parametrize("keys", ODD)
def test_any_statistics_give_a_plan_and_a_finite_cost(on: str, rate: float, keys: float) -> None:
    query = join("ABC", on).model
    odd, plain = StreamStatistics(rate, rate, 1.0, window_s=1.0), StreamStatistics(10.0, 10.0, 1.0, window_s=1.0)
    values = {f"{name}.{column}": keys for name in "ABC" for column in "kj"}
    known = Statistics({"A": odd, "B": plain, "C": plain}, values)
    plan = choose_plan(query, known, Weights())
    assert math.isfinite(cost(plan, known, Weights()))
    assert finite(plan_report(plan, known, Weights()))
    assert all(math.isfinite(spent) for spent in split_operator(query, known, Weights())[1].values())


def test_wrong_statistics_are_put_right_by_what_comes() -> None:
    """Planned for one key, and there are 100,000: scans give way to hashing, rows are those of a plan set by hand."""
    query = join("AB", "A.k = B.k")
    wrong = Statistics(
        {name: StreamStatistics(500.0, 500.0, 500.0, window_s=1.0) for name in "AB"}, {"A.k": 1.0, "B.k": 1.0}
    )
    planner = Planner(query.model, Weights())
    engine = Engine(planner.choose(wrong))
    (readings,) = engine.statistics()
    assert set(readings.decision.algorithms.values()) != {"hash"}
    control = Replan(planner)
    by_hand = query.replace(algorithm={"A": "hash", "B": "hash"}).local()
    found, expected = 0, 0
    for second in range(8):
        for name in "AB":
            block = rows(second, 5000, 99_991)
            found += sum(batch.num_rows for batch in engine.push({name: block}))
            expected += by_hand.push(name, block).num_rows
            (readings,) = engine.statistics()
            plan = control.decide(engine.plan, readings.observed.glance(), readings.observed.statistics)
            if plan is not None:
                engine.adopt(decision_of(plan, readings.decision.version + 1))
    assert found == expected > 0
    (readings,) = engine.statistics()
    assert set(readings.decision.algorithms.values()) == {"hash"}


def test_a_stream_with_no_tuples_yet() -> None:
    run = join("ABC", "A.k = B.k AND B.k = C.k").local()
    for second in range(6):
        run.push("A", rows(second, keys=10))
        run.push("B", rows(second, keys=10))
    report = run.plan_report()
    assert report["streams"]["C"]["rate"] == 0
    assert report["streams"]["C"]["algorithm"] == "hash", "nothing is decided about a stream that was never heard"
    assert finite(report)
    assert "C: window 1 second" in run.explain()


def test_before_anything_came_explain_says_what_it_assumed() -> None:
    run = join("AB", "A.k = B.k").local()
    text = run.explain()
    for assumed in ("A brings 1,000 tuples per second", "B.k has 1,000 distinct values", "blocks of 0.1 seconds"):
        assert assumed in text
    assert "measured\n" not in text


def test_a_stream_with_one_key() -> None:
    """Every pair matches: an index would only be in the way, and the output rate is that of all pairs."""
    query = join("AB", "A.k = B.k")
    report = query.plan_report(rates=100, keys=1)
    assert {stream["algorithm"] for stream in report["streams"].values()} == {"scan"}
    assert report["predicted"]["output_rate"] == pytest.approx(2 * 100 * 100, rel=0.01)
    run = query.local()
    made = sum(run.push(name, rows(second, 100)).num_rows for second in range(8) for name in "AB")
    assert made == sum(abs(a - b) <= 100 for a in range(800) for b in range(800))
    assert run.plan_report()["predicted"]["output_rate"] == pytest.approx(20_000, rel=0.1)


def test_a_cross_join() -> None:
    query = join("AB", "TRUE")
    report = query.plan_report(rates={"A": 50, "B": 20})
    assert {stream["algorithm"] for stream in report["streams"].values()} == {"scan"}
    assert report["predicted"]["output_rate"] == pytest.approx(2 * 50 * 20, rel=0.01)
    assert "by time alone" in query.explain(rates=5)
    run = query.local()
    for second in range(4):
        for name in "AB":
            run.push(name, rows(second, 20))
    assert finite(run.plan_report())


def test_rates_of_zero() -> None:
    report = join("AB", "A.k = B.k").plan_report(rates=0, keys=0)
    assert report["predicted"] == {"cost": 0.0, "keeps_up": True, "headroom": None, "output_rate": 0.0}
    assert "keeps up" in join("AB", "A.k = B.k").explain(rates=0)
