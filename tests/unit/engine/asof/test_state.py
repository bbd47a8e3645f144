"""What an as-of join keeps: of every key what may still be the answer, and nothing else."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.buffer.slots import SlotTable
from dovetail.engine.operator.asof import AsOfOperator
from dovetail.plan.plan_query import plan_query

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})


def rows(times: Any, keys: Any) -> pa.Table:
    return pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(keys), pa.array(np.arange(len(times)))], SCHEMA)


def query(asof: dv.AsOf, on: str = "T.k = Q.k", **options: Any) -> dv.Query:
    streams = dv.stream("T", time="ts", schema=SCHEMA), dv.stream("Q", time="ts", schema=SCHEMA, asof=asof)
    return dv.join(*streams, on=on, select="T.v AS t, Q.v AS q", **options)


def stored(run: Any) -> int:
    return int(run.metrics()["streams"]["Q"]["stored"])


def test_the_last_row_of_each_key_stays_and_no_other() -> None:
    run, keys, step = query(dv.asof()).local(), 50, 1_000
    for batch in range(40):
        times = np.arange(batch * step, (batch + 1) * step)
        run.push("Q", rows(times, times % keys))
        run.push("T", rows(times, times % keys))
        run.advance("T", (batch + 1) * step)
        run.advance("Q", (batch + 1) * step)
    assert stored(run) == keys
    assert run.metrics()["streams"]["Q"]["bytes"] < 400_000


def test_nothing_is_forgotten_that_a_row_still_to_come_may_ask_for() -> None:
    run = query(dv.asof()).local()
    run.push("T", rows([0], [0]))
    run.push("Q", rows(np.arange(5_000), np.zeros(5_000, np.int64)))
    assert stored(run) >= 4_999
    assert run.push("T", rows([1_234], [0]))["q"].to_pylist() == [1_234]


@pytest.mark.parametrize("direction", ["backward", "nearest", "forward"])
@pytest.mark.parametrize("on", ["T.k = Q.k", "T.k = Q.k AND T.v <> Q.v"])
def test_a_tolerance_is_a_time_to_live(direction: Any, on: str) -> None:
    run, step = query(dv.AsOf(direction, 100), on).local(), 2_000
    for batch in range(10):
        times = np.arange(batch * step, (batch + 1) * step)
        run.push("Q", rows(times, times))  # keys that never come again
        run.push("T", rows(times, times))
        run.advance("T", (batch + 1) * step)
    assert stored(run) <= 102
    assert run.metrics()["streams"]["T"]["stored"] <= 102


def test_a_row_that_is_the_answer_of_one_that_waits_stays() -> None:
    streams = (
        dv.stream("T", time="ts", schema=SCHEMA),
        dv.stream("Q", time="ts", schema=SCHEMA, asof=dv.asof()),
        dv.stream("R", time="ts", schema=SCHEMA, asof=dv.asof("forward")),
    )
    on, select = "T.k = Q.k AND T.k = R.k", "T.v AS t, Q.v AS q, R.v AS r"
    run = dv.join(*streams, on=on, select=select).local()
    run.push("Q", rows([10], [3]))
    run.push("T", rows([11], [3]))
    run.push("R", rows([5], [4]))
    for batch in range(4):
        times = np.arange(12 + batch * 3_000, 12 + (batch + 1) * 3_000)
        run.push("Q", rows(times, np.full(3_000, 3)))
        run.push("T", rows(times[-1:], [9]))
        run.push("R", rows(times[-1:], [9]))
    (given,) = run.push("R", rows([20_000, 20_001], [3, 3])).to_pylist()
    assert (given["t"], given["q"], given["r"]) == (0, 0, 0)


def test_keys_whose_hashes_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.admit.derive.hash_bytes", lambda offsets, _: np.zeros(len(offsets) - 1, "i8"))
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.string()})
    asof = dv.asof()
    streams = dv.stream("T", time="ts", schema=schema), dv.stream("Q", time="ts", schema=schema, asof=asof)
    run = dv.join(*streams, on="T.k = Q.k", select="T.k AS t, Q.k AS q, Q.ts AS at", how="left").local()
    times, keys = np.arange(4_000), [f"key {number % 7}" for number in range(4_000)]
    run.push("Q", pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(keys)], schema))
    asked = pa.table([pa.array([3_990, 3_990]).cast(pa.timestamp("us")), pa.array(["key 3", "none"])], schema)
    given = pa.concat_tables([run.push("T", asked), run.close()]).to_pylist()
    assert [(row["t"], row["q"]) for row in given] == [("key 3", "key 3"), ("none", None)]


def test_slots_of_keys_that_are_kept_go_on_with_other_numbers() -> None:
    table = SlotTable([pa.string()])
    keys, codes = pa.array(["a", "b", "c"]), np.zeros(3, np.int64)
    assert table.of(codes, [keys], adds=True).tolist() == [0, 1, 2]
    table.keep(np.array([1, 2]))
    assert table.of(codes, [keys], adds=False).tolist() == [-1, 0, 1]
    assert table.of(codes[:1], [keys[:1]], adds=True).tolist() == [2]


def test_changes_and_all_of_the_state_tell_the_same() -> None:
    """What a state store has gathered batch by batch, and a state that is read back whole, go on alike."""
    model = query(dv.AsOf("nearest", 500), how="left", order="hold").model
    plan = plan_query(model)
    first, follower = AsOfOperator(plan), AsOfOperator(plan)
    slices: dict[Any, pa.RecordBatch] = {}
    random = np.random.default_rng(5)
    for batch in range(12):
        times = np.sort(random.integers(batch * 1_000, batch * 1_000 + 1_500, 800))
        pushed = {name: rows(times, random.integers(0, 30, 800)) for name in "TQ"}
        list(first.push(pushed))
        changes = first.changes()
        slices = {key: each for key, each in (slices | changes.new).items() if key not in changes.gone}
        follower.apply(changes)
        left = follower.changes()
        assert not left.new
        assert not left.gone
        assert json.loads(left.header) == json.loads(changes.header)
    loaded = AsOfOperator(plan)
    loaded.apply(type(changes)(slices, [], changes.header))
    ends = [pa.Table.from_batches(list(each.close()), model.schema) for each in (first, follower, loaded)]
    assert ends[0].num_rows > 10
    assert ends[0].equals(ends[1])
    assert ends[0].equals(ends[2])


def test_columns_of_waiting_rows_may_have_any_name() -> None:
    schema = pa.schema({"time": pa.timestamp("us"), "eligible": pa.bool_(), "k": pa.int64()})
    later = dv.stream("B", time="time", schema=schema, asof=dv.asof("forward", tolerance="1 second"))
    asked = dv.join(dv.stream("A", time="time", schema=schema), later, on="A.k = B.k", select="B.eligible")
    run = asked.local()
    run.push("A", [{"time": 5, "eligible": True, "k": 1}])
    run.push("B", [{"time": 6, "eligible": True, "k": 2}])
    again = asked.local(run.snapshot())
    assert again.push("B", [{"time": 9, "eligible": False, "k": 1}]).num_rows == 0
    assert again.close()["eligible"].to_pylist() == [False]


def test_rows_whose_answers_are_open_stay_while_others_change() -> None:
    """One operator follows another by what that writes, also by a batch that lets open rows be as they were."""
    plan = plan_query(query(dv.asof("forward")).model)
    leads, follows = AsOfOperator(plan), AsOfOperator(plan)
    for batch in ({"T": rows([10], [0])}, {"Q": rows([12], [9])}, {"T": rows([30], [1])}):
        assert not sum(found.num_rows for found in leads.push(batch))
        follows.apply(leads.changes())
    for operator in (leads, follows):
        found = pa.Table.from_batches(list(operator.push({"Q": rows([20, 40], [0, 9])})))
        assert found.select(["t", "q"]).to_pylist() == [{"t": 0, "q": 0}]


def test_an_invalid_version_stays_the_answer_of_rows_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version of time 5 is replaced, that of time 1 is kept for the row of time 3: it is not that of time 6."""
    monkeypatch.setattr("dovetail.engine.asof.chains._FEW", 1)
    streams = [
        dv.stream("T", time="ts", schema=SCHEMA),
        dv.stream("Q", time="ts", schema=SCHEMA, asof=dv.asof("forward")),
        dv.table("V", key="k", time="ts", schema=SCHEMA),
    ]
    text = "T.k = Q.k AND T.k = V.k AND V.v >= 0"
    joined = dv.join(*streams, on=text, select="T.ts AS t, V.v AS v", how={"Q": "inner", "V": "left"})
    run = joined.local()

    def versions(times: list[int], keys: list[int], values: list[int]) -> pa.Table:
        return pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(keys), pa.array(values)], SCHEMA)

    run.push("V", versions([1, 5], [1, 1], [7, -1]))
    run.push("V", versions([10] * 9, list(range(2, 11)), [0] * 9))
    run.advance("V", 19)
    run.advance("Q", 7)
    run.push("T", rows([3, 6], [1, 1]))
    run.push("V", versions([20] * 10, list(range(1, 11)), [0] * 10))
    run.advance("V", 50)
    run.advance("T", 40)
    run.push("V", versions([60], [99], [0]))
    run.advance("T", 45)
    run = joined.local(snapshot=run.snapshot())
    found = pa.concat_tables([run.push("Q", rows([100], [1])), run.close()])
    assert sorted(found["v"].to_pylist(), key=str) == [7, None]
