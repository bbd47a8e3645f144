"""Calls that fail, and calls whose results were not read to the end: the run goes on after both."""

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.testing import assert_same_rows

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "n": pa.int64()})
BAD = 13  # the function fails on it


def judged(left: Any, right: Any) -> Any:
    if BAD in left.to_pylist() or BAD in right.to_pylist():
        raise RuntimeError("cannot judge 13")
    return pc.less_equal(pc.abs(pc.subtract(left, right)), 50)


def query(on: str = "A.k = B.k AND judged(A.n, B.n)", **options: Any) -> dv.Query:
    dv.function("judged", judged, ["int64", "int64"], "bool")
    window = options.pop("window", "20 us")
    streams = [dv.stream(name, time="ts", window=window, delay="5 us", schema=SCHEMA) for name in "AB"]
    return dv.join(*streams, on=on, **{"select": "A.n AS a, B.n AS b"} | options)


def rows(start: int, *numbers: int) -> pa.Table:
    values = [{"ts": start + at, "k": at % 2, "n": number} for at, number in enumerate(numbers)]
    return pa.Table.from_pylist(values, SCHEMA)


KINDS: list[dict[str, Any]] = [
    {},
    {"how": "full", "order": "hold"},
    {"how": "semi", "select": "A.n AS a"},
    {"how": "anti", "order": "sync", "select": "A.n AS a"},
    {"order": "adaptive"},
    {"window": dv.rows(3)},
    {"budget": dv.budget(cpu=1.0)},
    {"select": "COUNT(*) AS n, MAX(B.n) AS m"},
]
BATCHES = st.lists(
    st.tuples(st.sampled_from("AB"), st.lists(st.integers(0, 9) | st.just(BAD), min_size=1, max_size=3)), max_size=8
)


@pytest.mark.parametrize("options", KINDS, ids=str)
@settings(deadline=None, max_examples=25)
@given(BATCHES)
def test_a_batch_that_fails_leaves_the_run_as_it_was(options: dict[str, Any], batches: list[Any]) -> None:
    """As if it had never come: the other batches give what they give without it, also after a snapshot."""
    run, kept, found = query(**options).local(), [], []
    for at, (name, numbers) in enumerate(batches):
        if at % 3 == 1:
            run = query(**options).local(snapshot=run.snapshot())
        batch = name, rows(at * 3, *numbers)
        before = run.metrics()["streams"]
        try:
            found.append(run.push(*batch))
            kept.append(batch)
        except dv.DataError as error:
            assert "function 'judged' failed" in str(error)  # noqa: PT017
            assert {n: each["rows"] for n, each in run.metrics()["streams"].items()} == {
                n: each["rows"] for n, each in before.items()
            }
    found += finished(run)
    alone = query(**options).local()
    wanted = [alone.push(*batch) for batch in kept] + finished(alone)
    assert_same_rows(pa.concat_tables(found), pa.concat_tables(wanted))


def finished(run: Any) -> list[pa.Table]:
    """What the end gives; rows that waited may make it fail, and it can be asked again."""
    try:
        return [run.close()]
    except dv.DataError:
        with pytest.raises(dv.DataError, match="function 'judged' failed"):
            run.close()
        return []


def test_a_batch_that_fails_goes_aside_and_the_run_goes_on() -> None:
    run = query(on_error="divert").local()
    run.push("A", rows(0, 1, 2))
    assert run.push("B", rows(1, 3, BAD)).num_rows == 0
    assert run.push("B", rows(1, 3, 4)).num_rows == 2
    late = run.late
    assert late["stream"].to_pylist() == ["B", "B"]
    assert set(late["reason"].to_pylist()) == {"error: function 'judged' failed on 2 rows: cannot judge 13"}
    assert [row["n"] for row in late["B"].to_pylist()] == [3, BAD]
    assert run.metrics()["streams"]["B"]["rows"] == 2
    too_far = rows(0, 1).set_column(0, "ts", pa.array([2**62], pa.timestamp("us")))
    assert run.push("A", too_far).num_rows == 0
    assert "times lie within 36,000 years" in run.late["reason"].to_pylist()[-1]
    assert run.snapshot()
    assert run.close().num_rows == 0


def test_a_batch_that_fails_after_a_snapshot_takes_nothing_with_it() -> None:
    before = query(on_error="divert").local()
    before.push("A", rows(0, 1, 2))
    run = query(on_error="divert").local(snapshot=before.snapshot())
    assert run.push("B", rows(1, 3, BAD)).num_rows == 0
    assert run.push("B", rows(1, 3, 4)).num_rows == 2
    assert run.push("A", rows(900, 3)).num_rows == 0
    run.push("B", rows(900, 3))
    assert run.close().num_rows == 0


def test_late_rows_that_were_set_aside_stay_when_a_batch_fails() -> None:
    run = query(late="divert").local()
    run.push("A", rows(100, 1))
    run.push("A", rows(3, 1))
    run.push("B", rows(100, 2))
    with pytest.raises(dv.DataError, match="cannot judge 13"):
        run.push("B", rows(100, BAD))
    assert run.late["reason"].to_pylist() == ["late"]


def failing(push: Callable[..., Any]) -> Callable[..., Any]:
    """A push that stores half of its rows and then has no memory left."""

    def half(self: Engine, *batch: Any) -> Iterator[pa.RecordBatch]:
        yield from push(self, *batch)
        raise MemoryError("no more")

    return half


def test_out_of_memory_is_told_as_such_and_undone_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    run, plain = query(on_error="divert").local(), query(on="A.k = B.k").local()
    for each in (run, plain):
        each.push("A", rows(0, 1))
    with monkeypatch.context() as patch:
        patch.setattr(Engine, "push", failing(Engine.push))
        for each in (run, plain):
            with pytest.raises(MemoryError, match="no more"):
                each.push("B", rows(1, 2))
    assert run.push("B", rows(1, 2)).num_rows == 1
    assert not run.late.num_rows
    with pytest.raises(
        dv.DataError, match=r"push: a call before failed half-way \(MemoryError: no more\), and this run"
    ):
        plain.push("B", rows(1, 2))


def test_a_function_without_memory_is_not_blamed_on_the_rows() -> None:
    def greedy(value: Any) -> Any:
        raise MemoryError("too much")

    dv.function("greedy", greedy, ["int64"], "bool")
    run = query(on="A.k = B.k AND greedy(A.n)").local()
    with pytest.raises(MemoryError, match="too much"):
        run.push("A", rows(0, 1))


@pytest.mark.parametrize("read", [0, 1])
def test_what_was_not_read_comes_with_the_next_call(read: int) -> None:
    run, alone = query(on="A.k = B.k").local(), query(on="A.k = B.k").local()
    for each in (run, alone):
        each.push("A", rows(0, *range(9)))
    results = run.push_batches("B", rows(1, *range(6)))
    found = [batch for _, batch in zip(range(read), results, strict=False)]
    del results
    gc.collect()
    found += run.push("A", rows(8, 1)).to_batches()
    wanted = pa.concat_tables([alone.push("B", rows(1, *range(6))), alone.push("A", rows(8, 1))])
    assert_same_rows(pa.Table.from_batches(found, wanted.schema), wanted)
    assert run.snapshot() == alone.snapshot()


def test_where_going_on_is_not_possible_it_is_refused() -> None:
    with pytest.raises(dv.QueryError, match="for which a memory budget has no room"):
        query(on_error="divert", budget=dv.budget(memory="1 MB", policy="spill"))
    with pytest.raises(dv.QueryError, match="on_error='ignore': it is one of 'raise', 'divert'"):
        query(on_error="ignore")
    with pytest.raises(dv.QueryError, match="one query's failure would take back the rows of all"):
        dv.share(query(on_error="divert"), query())
    with pytest.raises(dv.QueryError, match="a batch that fails is tried again by Spark"):
        query(on_error="divert").spark()
