"""Active and lazy invalidation: the same results, and windows that forget when they should."""

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.model.statistics import Statistics, StreamStatistics
from dovetail.plan.choose_invalidation import choose_lazy, piled_up
from dovetail.plan.choose_plan import choose_plan
from dovetail.plan.cost import Weights, cost
from dovetail.plan.plan_query import plan_query
from dovetail.testing import assert_same_rows
from experiments import kang_model as kang

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def join(invalidation: str = "auto", window: object = "10 seconds", **options: object) -> dv.Query:
    streams = [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in "AB"]  # type: ignore[arg-type]
    return dv.join(*streams, on="A.k = B.k", select="A.k, A.ts", invalidation=invalidation, **options)  # type: ignore[arg-type]


def rows(first_s: float, seconds: float, count: int = 100) -> pa.RecordBatch:
    times = ((first_s + np.arange(count) * seconds / count) * 1e6).astype(np.int64)
    return pa.RecordBatch.from_arrays([pa.array(times).cast(pa.timestamp("us")), pa.array(times % 7)], schema=SCHEMA)


def push(engine: Engine, name: str, block: pa.RecordBatch) -> list[pa.RecordBatch]:
    return list(engine.push({name: block}))


def held(engine: Engine) -> dict[str, int]:
    return {name: stream["stored"] for name, stream in engine.metrics()["streams"].items()}


def test_a_row_window_that_is_not_probed_piles_up_only_if_lazy() -> None:
    """What its own stream has pushed out stays until the other comes, or says how far it is."""
    kept = {}
    for invalidation in ("active", "lazy"):
        engine = Engine(join(invalidation, dv.rows(10)).plan)
        for second in range(20):
            list(engine.advance("B", (second + 1) * 1_000_000 - 1))
            push(engine, "A", rows(second, 1))
        kept[invalidation] = held(engine)["A"]
        push(engine, "B", rows(20, 1))
        push(engine, "A", rows(21, 1))
        push(engine, "B", rows(22, 1))
        assert held(engine)["A"] <= 300, invalidation
    assert kept["active"] <= kept["lazy"]


@pytest.mark.parametrize("window", ["3 seconds", dv.rows(50)])
def test_results_are_the_same(window: object) -> None:
    found = {}
    for invalidation in ("active", "lazy", "auto"):
        run = join(invalidation, window).local()
        parts = []
        for second in range(30):
            parts.append(run.push("A", rows(second, 1)))
            if second % 3 == 2:
                parts.append(run.push("B", rows(second - 2, 3)))
        found[invalidation] = pa.concat_tables([*parts, run.close()])
    assert found["active"].num_rows > 0
    assert_same_rows(found["active"], found["lazy"])
    assert_same_rows(found["active"], found["auto"])


def test_time_windows_forget_as_much_either_way_once_the_other_stream_has_come() -> None:
    stored = {}
    for invalidation in ("active", "lazy"):
        engine = Engine(join(invalidation).plan)
        for second in range(60):
            push(engine, "A", rows(second, 1))
            push(engine, "B", rows(second, 1))
        stored[invalidation] = held(engine)["A"]
    assert stored["active"] == stored["lazy"] <= 1200


def known(a: float, b: float, tuples: float = 50.0) -> Statistics:
    return Statistics({"A": StreamStatistics(a, tuples, 10), "B": StreamStatistics(b, tuples, 10)})


def test_the_model_chooses() -> None:
    timed, counted = join().model, join(window=dv.rows(50)).model
    assert choose_lazy(timed) == (), "nothing is known yet"
    assert choose_lazy(timed, known(1000, 1)) == ("A", "B"), "fewer checks, and nothing piles up"
    assert choose_lazy(counted, known(1000, 1)) == ("B",), "10,000 tuples of A would come between two blocks of B"
    assert piled_up(counted, known(1000, 1), "A") == 10_000
    assert choose_lazy(counted, known(1000, 0)) == ("B",), "nobody looks at A at all"
    assert choose_lazy(join("active").model, known(1, 1)) == ()
    assert choose_lazy(join("lazy", dv.rows(50)).model, known(1000, 1)) == ("A", "B"), "set by hand"


def test_lazy_is_predicted_to_cost_less() -> None:
    query, now = join().model, known(1000, 1000)
    lazy = choose_plan(query, now, Weights())
    active = plan_query(query, lazy=())
    assert lazy.storage["A"].lazy
    assert cost(lazy, now, Weights()) < cost(active, now, Weights())


def test_the_papers_own_formula() -> None:
    """Section 3.2: B ten times as fast as A; lazily one binary search per A instead of one removal per B."""
    a, b, weights = kang.Input(10, 60, 10), kang.Input(100, 60, 10), kang.Weights(1, 1.3)
    assert kang.scan_cost(a, b, weights) == 10 * 6000 + 2 * 100
    assert kang.lazy_scan_cost(a, b, weights) == 10 * (6000 + 4) + 100


def test_by_hand_is_checked() -> None:
    with pytest.raises(dv.QueryError, match="invalidation='never': it is one of 'auto', 'active', 'lazy'"):
        join("never")
    with pytest.raises(dv.PlanError, match="invalidation='lazy' is for inner joins"):
        join("lazy", how="left")


def test_explain_says_which() -> None:
    assert "forgets what has left when it is probed" in join("lazy").explain()
    assert join("active").plan_report()["streams"]["A"]["invalidation"] == "active"
