"""Joins by stream whose key all streams share in the end, but not at every step: nobody relies on it before."""

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.policies.spill.choose import star_keys
from dovetail.testing import Close, Push, assert_same_rows, oracle, play

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "n": pa.int64()})


@pytest.mark.parametrize("memory", [None, 30])
@pytest.mark.parametrize(
    ("on", "shared"),
    [
        ("A.k = B.k AND B.k = C.k", True),
        ("A.n = B.n AND A.k = C.k AND B.k = C.k", False),  # where no C is, A and B may differ in k
    ],
)
def test_rows_that_agree_on_no_key_find_each_other(on: str, shared: bool, memory: int | None) -> None:
    streams = [dv.stream(name, time="ts", window="20 microseconds", schema=SCHEMA) for name in "ABC"]
    budget = dv.budget(memory=dv.tuples(memory), policy="spill") if memory else None
    query = dv.join(*streams, on=on, how="left", select="A.ts AS a, B.ts AS b, C.ts AS c", budget=budget)
    assert (star_keys(query.model) is not None) == shared
    random, script = np.random.default_rng(3), []
    for start in range(0, 100, 10):
        for name in "ABC":
            columns = {"ts": start + np.arange(10), "k": random.integers(0, 40, 10), "n": random.integers(0, 9, 10)}
            script.append(Push.of(name, pa.table(columns).cast(SCHEMA)))
    run = query.local()
    rows = play(run, [*script, Close()])
    assert not memory or run.metrics()["memory"]["flushed_tuples"] > 50
    assert_same_rows(rows, oracle(query.model, [*script, Close()]).rows)
