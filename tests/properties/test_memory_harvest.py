"""Shorter windows lose results and change none: a subset of the oracle's rows, in order where one was asked for."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import assert_subset, oracle, ordered, play
from tests.properties.queries import queries
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS
from tests.properties.test_row_windows import row_queries

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


@given(st.data())
def test_what_comes_out_is_part_of_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4) | row_queries(most=3))
    script = data.draw(scripts(drawn))
    budget = dv.budget(memory=dv.tuples(data.draw(st.integers(1, 8))))
    query = drawn.build(budget=budget, order=data.draw(st.sampled_from(["none", *ORDERS])))
    run = query.local()
    rows = play(run, script)
    assert_subset(rows, oracle(drawn.build().model, script).rows)
    assert query.model.order == "none" or ordered(rows)


def played(rates: dict[str, int], memory: "dv.Budget | None") -> tuple[pa.Table, dict[str, int], dict[str, Any]]:
    """Twenty seconds of streams on a common key; results, tuples stored at the end, metrics."""
    streams = [dv.stream(name, time="ts", window="5 seconds", schema=SCHEMA) for name in rates]
    on = " AND ".join(f"A.k = {name}.k" for name in rates if name != "A")
    run, random, results = dv.join(*streams, on=on, budget=memory).local(), np.random.default_rng(3), []
    for tick in range(100):
        for name, rate in rates.items():
            count = random.poisson(rate / 5)
            times = pa.array(np.sort(random.integers(tick * 200_000, (tick + 1) * 200_000, count)))
            results.append(
                run.push(name, pa.table([times.cast(pa.timestamp("us")), random.integers(0, 50, count)], SCHEMA))
            )
    metrics = run.metrics()
    stored = {name: each["stored"] for name, each in metrics["streams"].items()}
    return pa.concat_tables([*results, run.close()]), stored, metrics.get("memory", {})


@pytest.mark.parametrize("rates", [{"A": 20, "B": 100}, {"A": 100, "B": 20}, {"A": 20, "B": 20, "C": 60}])
def test_memory_goes_to_the_slower_streams_and_the_loss_is_estimated(rates: dict[str, int]) -> None:
    whole, _, _ = played(rates, None)
    part, stored, metrics = played(rates, dv.budget(memory=dv.tuples(90)))
    assert sum(stored.values()) <= 90
    slowest = min(rates, key=lambda name: rates[name])
    assert stored[slowest] >= 0.9 * (90 if len(rates) == 2 else 45)
    true = whole.num_rows - part.num_rows
    low, high = metrics["missed_band"]
    assert low <= true <= high
    assert metrics["completeness"] == pytest.approx(part.num_rows / whole.num_rows, rel=0.2)


def test_completeness_may_be_bounded_and_then_the_budget_is_said_not_to_hold() -> None:
    budget = dv.budget(memory=dv.tuples(60), min_completeness=0.9)
    _, stored, metrics = played({"A": 20, "B": 100}, budget)
    assert sum(stored.values()) > 60
    assert metrics["over"]
    with pytest.raises(dv.BudgetError, match=r"completeness is at 0\.\d+: the budget .* cannot be met"):
        played({"A": 20, "B": 100}, dv.budget(memory=dv.tuples(60), min_completeness=0.9, strict=True))
