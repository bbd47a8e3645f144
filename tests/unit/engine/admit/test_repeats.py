"""Repeats of rows: which stay, what is remembered and for how long, and what a stream may not ask for."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.kernels.repeats import mark_repeats

SCHEMA = pa.schema(
    {"ts": pa.timestamp("us"), "k": pa.int64(), "id": pa.string(), "x": pa.float64(), "v": pa.list_(pa.int64())}
)
SECOND = 1_000_000


def build(on: str = "A.k = B.k", window: Any = "10 seconds", dedup: Any = "id", **options: Any) -> dv.Query:
    a = dv.stream("A", time="ts", window=window, delay="60 seconds", schema=SCHEMA, dedup=dedup)
    b = dv.stream("B", time="ts", window="10 seconds", delay="60 seconds", schema=SCHEMA)
    return dv.join(a, b, on=on, select="A.ts AS a", **options)


def row(second: float, id: str | None, k: int | None = 1, x: float | None = 0.0) -> dict[str, Any]:
    return {"ts": int(second * SECOND), "k": k, "id": id, "x": x}


def stayed(query: dv.Query, rows: list[dict[str, Any]]) -> tuple[int, int]:
    """How many rows of A stayed, and how many were repeats."""
    run = query.local()
    run.push("A", rows)
    counts = run.metrics()["streams"]["A"]
    return counts["stored"], counts["repeated"]


def test_a_copy_is_dropped_and_a_row_that_is_too_far_away_stays() -> None:
    assert stayed(build(), [row(0, "x"), row(10, "x"), row(10.1, "x"), row(10.1, "y")]) == (3, 1)


def test_what_did_not_stay_makes_nothing_a_repeat() -> None:
    assert stayed(build(), [row(0, "x"), row(6, "x"), row(12, "x")]) == (2, 1)


def test_a_null_id_repeats_nothing_and_other_columns_compare_null_with_null() -> None:
    assert stayed(build(), [row(0, None), row(0, None)]) == (2, 0)
    assert stayed(build(how="left"), [row(0, "x", k=None), row(0, "x", k=None), row(0, "x", k=0)]) == (2, 1)
    nan = float("nan")
    assert stayed(build("A.x = B.x", how="left"), [row(0, "x", x=nan), row(0, "x", x=nan), row(0, "x", x=None)])[1] == 1


def test_rows_that_differ_in_the_key_are_no_copies() -> None:
    assert stayed(build(), [row(0, "x", k=1), row(0, "x", k=2)]) == (2, 0)


def test_what_is_remembered_goes_with_the_window() -> None:
    run = build().local()
    sizes = []
    for second in range(0, 2000, 5):
        for name in "AB":
            run.push(name, [row(second, f"{second}"), row(second, f"{second}")])
        state = run.operator.state().new
        sizes.append(sum(rows.num_rows for (section, _), rows in state.items() if section == "dedup/A"))
    assert max(sizes) <= 1 + (60 + 10) // 5 + 1
    assert run.metrics()["streams"]["A"]["repeated"] == len(sizes)


def test_a_window_of_rows_needs_a_time() -> None:
    with pytest.raises(dv.QueryError, match=r"stream 'A': dedup remembers rows .* dovetail\.dedup\('id', within="):
        build(window=dv.rows(3))
    query = build(window=dv.rows(2), dedup=dv.dedup("id", within="1 hour"))
    run = query.local()
    run.push("A", [row(1, "x"), row(2, "y"), row(2, "y"), row(2, "y")])
    run.push("B", [row(3, "b")])
    assert sorted(run.close()["a"].cast(pa.int64()).to_pylist()) == [SECOND, 2 * SECOND]


@pytest.mark.parametrize(
    ("dedup", "sentence"),
    [
        ("idd", r"stream 'A': dedup: there is no column 'idd'; .*Did you mean 'id'"),
        ((), "stream 'A': dedup names no column"),
        ("v", "stream 'A': dedup: column 'v' has type list"),
        (7, "stream 'A': dedup: there is no column 7"),
    ],
)
def test_bad_ids_are_refused(dedup: Any, sentence: str) -> None:
    with pytest.raises(dv.StreamError, match=sentence):
        build(dedup=dedup)


def test_bad_lengths_are_refused() -> None:
    with pytest.raises(dv.StreamError, match="dedup: within"):
        dv.dedup("id", within="-1 seconds")


def test_the_plan_says_so() -> None:
    assert "without repeats of id within 10 seconds" in build().explain()


def test_the_kernel_is_its_plain_twin() -> None:
    random = np.random.default_rng(3)
    slots = random.integers(-1, 6, 300).astype(np.int32)
    times = random.integers(0, 60, 300)
    heads, before = np.full(6, -1, np.int32), np.full(300, -1, np.int32)
    found = np.zeros(300, np.bool_)
    count = mark_repeats(slots, times, 4, heads, np.zeros(300, np.int64), before, 0, found)
    known: dict[int, list[int]] = {}
    expected = []
    for slot, time in zip(slots.tolist(), times.tolist(), strict=True):
        repeated = slot >= 0 and any(abs(time - other) <= 4 for other in known.get(slot, []))
        expected.append(repeated)
        if slot >= 0 and not repeated:
            known.setdefault(slot, []).append(time)
    assert found.tolist() == expected
    assert count == sum(map(len, known.values()))
