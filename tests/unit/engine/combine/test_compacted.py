"""Windows that have moved their tuples to the front several times, as any does after a while."""

from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

ROWS, BLOCK, KEYS = 6_000, 100, 5
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "n": pa.int64(), "k": pa.int64(), "v": pa.list_(pa.float64(), 3)})


def columns(seed: int) -> dict[str, Any]:
    """Six rows for every two microseconds, so that many times are equal."""
    random = np.random.default_rng(seed)
    times = np.arange(ROWS) // 3
    return {"ts": times, "n": np.arange(ROWS), "k": random.integers(0, KEYS, ROWS), "v": random.normal(0, 1, (ROWS, 3))}


def table(rows: dict[str, Any]) -> pa.Table:
    flat = pa.FixedSizeListArray.from_arrays(pa.array(rows["v"].reshape(-1)), 3)
    return pa.table(
        [pa.array(rows["ts"]).cast(SCHEMA.types[0]), pa.array(rows["n"]), pa.array(rows["k"]), flat], SCHEMA
    )


def pairs(on: str, a: dict[str, Any], b: dict[str, Any], windows: dict[str, Any]) -> set[tuple[int, int]]:
    streams = [dv.stream(name, schema=SCHEMA, time="ts", window=windows[name]) for name in "AB"]
    run = dv.join(*streams, on=on, select="A.n AS a, B.n AS b").local()
    tables, found = {"A": table(a), "B": table(b)}, []
    for start in range(0, ROWS, BLOCK):
        found += [run.push(name, rows.slice(start, BLOCK)) for name, rows in tables.items()]
    rows = pa.concat_tables([*found, run.close()])
    return set(zip(rows["a"].to_pylist(), rows["b"].to_pylist(), strict=True))


def wanted(keep: Any) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in zip(*np.nonzero(keep), strict=True)}


def test_similarities_that_are_only_checked() -> None:
    a, b = columns(1), columns(2)
    found = pairs("A.k = B.k AND INNER_PRODUCT(A.v, B.v) >= 0.5", a, b, dict.fromkeys("AB", "10 us"))
    near = np.abs(a["ts"][:, None] - b["ts"][None, :]) <= 10
    assert found == wanted((a["k"][:, None] == b["k"][None, :]) & near & (a["v"] @ b["v"].T >= 0.5))


def test_the_last_row_of_each_key_with_many_ties() -> None:
    a, b = columns(1), columns(2)
    found = pairs("A.k = B.k", a, b, {"A": dv.rows(1, per="key"), "B": "2 us"})
    gap = a["ts"][:, None] - b["ts"][None, :]
    last = np.zeros((ROWS, ROWS), np.bool_)
    for place, (time, key) in enumerate(zip(b["ts"], b["k"], strict=True)):
        upto = np.flatnonzero((a["ts"] <= time) & (a["k"] == key))
        last[upto[-1:], place] = True
    # B has the result time: only the last row of A is inside; A alone has it: it is inside if B is
    assert found == wanted(last | ((a["k"][:, None] == b["k"][None, :]) & (gap > 0) & (gap <= 2)))
