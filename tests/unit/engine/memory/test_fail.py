"""The policy "fail": a batch that does not fit is refused before anything has changed."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string()})


def rows(count: int, start: int) -> pa.Table:
    times = np.arange(start, start + count)
    return pa.table(
        [pa.array(times).cast(pa.timestamp("us")), times % 10**6, pa.array(times).cast(pa.string())], SCHEMA
    )


def query(memory: "str | dv.Tuples", order: str = "none", delay: str = "0 seconds") -> dv.Query:
    a, b = (dv.stream(name, time="ts", window="1 second", delay=delay, schema=SCHEMA) for name in "AB")
    return dv.join(a, b, on="A.k = B.k", order=order, budget=dv.budget(memory=memory, policy="fail"))


def fill(run: Any, limit: int) -> None:
    for at in range(100):
        run.push("A", rows(10_000, at * 10_000))
        assert run.metrics()["memory"]["held"] <= limit


def test_the_batch_before_the_limit_is_the_last_one_taken() -> None:
    run, limit = query("8 MB").local(), 8_000_000
    with pytest.raises(dv.BudgetError, match=r"a batch of 10000 rows of 'A' would bring what is held from [\d,]+ to"):
        fill(run, limit)
    stored = run.metrics()["streams"]["A"]["stored"]
    assert stored > 50_000
    run.advance("B", 1_900_000)  # the window moves on, and there is room again
    assert run.push("A", rows(10_000, 1_900_000)).num_rows == 0
    assert run.push("B", rows(100, 1_900_000)).num_rows == 100


def test_tuples_are_counted_exactly() -> None:
    run = query(dv.tuples(100)).local()
    run.push("A", rows(60, 0))
    run.push("B", rows(40, 0))
    with pytest.raises(dv.BudgetError, match=r"from 100 to about 101, and the budget is memory 100 tuples, fail"):
        run.push("A", rows(1, 60))
    assert run.metrics()["memory"] == {"policy": "fail", "limit": 100, "held": 100}


def test_held_output_counts() -> None:
    run = query("10 MB", order="hold", delay="1 second").local()
    same = [{"ts": at, "k": 7, "s": ""} for at in range(1000)]
    run.push("A", same)
    with pytest.raises(dv.BudgetError, match="output that waits for its order"):
        run.push("B", same)
