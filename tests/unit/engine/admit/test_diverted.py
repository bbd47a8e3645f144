"""Diverted rows: kept until somebody takes them, part of the state, and counted in the memory of a run."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.snapshot import pack_snapshot
from dovetail.model.fingerprint import fingerprint

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
DAY = 86_400_000_000


def query(budget: dv.Budget | None = None) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="1 second", schema=SCHEMA) for name in "AB"]
    return dv.join(*streams, on="A.k = B.k", select="A.k", late="divert", budget=budget)


def rows(start: int, count: int, keys: int = 0) -> pa.Table:
    times = np.arange(start, start + count)
    return pa.table([pa.array(times).cast(pa.timestamp("us")), pa.array(times + keys)], SCHEMA)


def keys(table: pa.Table, stream: str = "A") -> list[int]:
    return [row["k"] for row in table[stream].to_pylist() if row is not None]


def overdue(budget: dv.Budget | None = None) -> Any:
    """A run whose stream A has come so far that everything before a day is late."""
    run = query(budget).local()
    run.push("A", rows(DAY, 1))
    return run


def divert(run: Any, batches: int, limit: int) -> None:
    for at in range(batches):
        run.push("A", rows(at * 10_000, 10_000))
        assert run.metrics()["bytes"] <= limit


def test_rows_stay_until_they_are_taken() -> None:
    run = overdue()
    run.push("A", rows(5, 2))
    assert keys(run.late) == [5, 6]
    run.push("A", rows(9, 1))
    assert keys(run.late) == [5, 6, 9]
    assert keys(run.take_late()) == [5, 6, 9]
    assert (run.late.num_rows, run.take_late().num_rows) == (0, 0)
    run.push("A", rows(11, 1))
    assert keys(run.late) == [11]
    assert run.metrics()["diverted"]["waiting"] == 1


def test_a_snapshot_holds_them() -> None:
    run = overdue()
    run.push("A", rows(5, 2))
    run.push("B", [{"ts": None, "k": 7}])
    again = query().local(snapshot=run.snapshot())
    assert again.late.equals(run.late)
    assert again.metrics()["diverted"] == run.metrics()["diverted"]
    again.push("A", rows(9, 1))
    assert keys(again.late) == [5, 6, 9]
    assert again.take_late().num_rows == 4
    assert query().local(snapshot=again.snapshot()).late.num_rows == 0


def test_a_snapshot_from_before_they_were_part_of_it_is_read() -> None:
    run = overdue()
    join = query()
    state = run.operator.state()
    header = json.loads(state.header)
    del header["sections"]["diverted"]
    older = replace(state, header=json.dumps(header).encode())
    again = join.local(snapshot=pack_snapshot(fingerprint(join.model), older))
    assert again.late.num_rows == 0
    again.push("A", rows(5, 1))
    assert keys(again.late) == [5]


def test_many_small_pushes_are_kept_in_few_pieces() -> None:
    run = overdue()
    for at in range(1000):
        run.push("A", rows(at, 1))
    assert keys(run.late) == list(range(1000))
    assert run.metrics()["diverted"]["bytes"] < 100 * 1000


@pytest.mark.parametrize("kind", ["alone", "shared"])
def test_a_shared_run_gives_them_once_and_its_snapshot_holds_them(kind: str) -> None:
    a, b = (dv.stream(name, time="ts", schema=SCHEMA) for name in "AB")
    near = dv.join(a, b, on="A.k = B.k", select="A.k", window="1 second", late="divert").named("near")
    other = dv.join(a, b, on="A.k < B.k", select="A.k", window="1 second", late="divert").named("other")
    shared = dv.share(near) if kind == "alone" else dv.share(near, other)
    run = shared.local()
    run.push("A", rows(DAY, 1))
    run.push("A", rows(5, 2))
    again = shared.local(snapshot=run.snapshot())
    assert keys(run.late) == keys(again.late) == [5, 6]
    if kind == "shared":  # the operator that told of them ends
        again.remove("near")
        assert keys(shared.local(snapshot=again.snapshot()).late) == keys(again.late) == [5, 6]
    assert again.metrics()["bytes"] > 0
    assert keys(again.take_late()) == [5, 6]
    assert again.late.num_rows == 0


def test_they_count_in_the_bytes_of_a_run() -> None:
    run = overdue()
    before = run.metrics()["bytes"]
    run.push("A", rows(0, 100_000))
    assert 100_000 * 16 <= run.metrics()["bytes"] - before <= 100_000 * 40
    run.take_late()
    assert run.metrics()["bytes"] < before + 100_000


def test_fail_refuses_a_batch_before_they_pass_the_limit() -> None:
    run = overdue(dv.budget(memory="2 MB", policy="fail"))
    with pytest.raises(dv.BudgetError, match=r"are diverted rows: run\.take_late\(\) gives them to you and frees them"):
        divert(run, 100, 2_000_000)
    taken = run.take_late().num_rows
    assert taken == run.metrics()["streams"]["A"]["late"] > 10_000
    run.push("A", rows(0, 10_000))


def test_spilling_keeps_them_in_memory_and_says_when_they_are_too_many() -> None:
    run = overdue(dv.budget(memory="2 MB", policy="spill"))
    with pytest.raises(dv.BudgetError, match=r"run\.take_late\(\)"):
        divert(run, 100, 2_500_000)
    assert run.take_late().num_rows == run.metrics()["streams"]["A"]["late"]
    run.push("A", rows(0, 10_000))


def test_harvest_keeps_the_newest_and_counts_the_rest() -> None:
    run = overdue(dv.budget(memory="2 MB", policy="harvest"))
    divert(run, 20, 2_000_000)
    said = run.metrics()["diverted"]
    assert said["bytes"] <= 500_000
    assert said["waiting"] + said["forgotten"] == run.metrics()["streams"]["A"]["late"] == 200_000
    kept = keys(run.take_late())
    assert kept == list(range(200_000 - len(kept), 200_000))
    assert len(kept) > 10_000
    again = query(dv.budget(memory="2 MB", policy="harvest")).local(snapshot=run.snapshot())
    assert again.metrics()["diverted"]["forgotten"] == said["forgotten"]
