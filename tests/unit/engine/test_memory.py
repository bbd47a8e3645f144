"""Memory is bounded by the windows: not by how many results there are, nor by how long a query runs."""

import numpy as np
import psutil
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.engine import Engine

MB = 1 << 20


def resident() -> int:
    return int(psutil.Process().memory_info().rss)


def wide(count: int, start: int, items: int) -> pa.Table:
    times = pa.array(np.arange(start, start + count)).cast(pa.timestamp("us"))
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(count * items, np.float32)), items)
    return pa.table({"ts": times, "k": np.zeros(count, np.int64), "s": ["text " * 4] * count, "v": vectors})


@pytest.mark.parametrize("items", [1, 250])
def test_an_exploding_join_streams_its_results(items: int) -> None:
    schema = wide(1, 0, items).schema
    a, b = (dv.stream(name, time="ts", window="1 minute", schema=schema) for name in "AB")
    run = dv.join(a, b, on="A.k = B.k").local()
    run.push("A", wide(50_000, 0, items))
    before, most, given = resident(), 0, 0
    for batch in run.push_batches("B", wide(20_000, 100_000, items)):
        given += batch.nbytes
        most = max(most, resident() - before)
        if given > 1000 * MB:
            break
    assert given > 1000 * MB
    assert most < 400 * MB


def keyed(how: str) -> dv.Query:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string()})
    a, b = (dv.stream(name, time="ts", window=dv.rows(2, per="key"), schema=schema) for name in "AB")
    return dv.join(a, b, on="A.k = B.k", how=how, select="A.ts AS a, A.s AS s")


def turn(step: int, count: int = 500, rare: bool = False) -> pa.Table:
    """Rows of three keys; the first turn also has rows of keys that never come again."""
    times = pa.array(np.arange(count) + step * count).cast(pa.timestamp("us"))
    keys = np.arange(count) + 100 if rare else np.arange(count) % 3
    return pa.table({"ts": times, "k": keys, "s": [f"{step} {place}" for place in range(count)]})


@pytest.mark.parametrize("how", ["inner", "left", "semi"])
def test_row_windows_per_key_keep_what_is_inside_though_old_keys_stay_in_front(how: str) -> None:
    engine = Engine(keyed(how).plan)
    store: dict[tuple[str, int], pa.RecordBatch] = {}
    for step in range(60):
        list(engine.push({name: turn(step, rare=step == 0) for name in "AB"}))
        changes = engine.changes()
        store = {key: rows for key, rows in (store | changes.new).items() if key not in changes.gone}
    streams = engine.metrics()["streams"]
    # 500 keys with one row each, three with two; dead rows may be as many again, and some to spare
    assert all(500 < stream["stored"] < 2 * 506 + 4096 + 500 for stream in streams.values())
    assert sum(rows.num_rows for (section, _), rows in store.items() if section.startswith("window/")) < 2 * 6000
    again = Engine.restore(keyed(how).plan, store, changes.header)
    last = {"A": turn(60), "B": turn(60).set_column(1, "k", turn(0, rare=True)["k"])}
    found = [given(each, last) for each in (engine, again)]
    assert found[0] == found[1] != []


def given(engine: Engine, batch: dict[str, pa.Table]) -> list[str]:
    """What an engine gives for a last batch and at the end."""
    batches = [*engine.push(batch), *engine.close()]
    return sorted(str(row) for rows in batches for row in rows.to_pylist())


def test_a_store_of_changes_stays_as_small_as_the_windows() -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    a, b = (dv.stream(name, time="ts", window="1 millisecond", schema=schema) for name in "AB")
    engine = Engine(dv.join(a, b, on="A.k = B.k", how="full", order="hold").plan)
    store: dict[tuple[str, int], pa.RecordBatch] = {}
    for step in range(300):
        times = pa.array(np.arange(100) + 100 * step).cast(pa.timestamp("us"))
        list(engine.push({name: pa.table({"ts": times, "k": np.arange(100) % 7}) for name in "AB"}))
        changes = engine.changes()
        store = {key: rows for key, rows in (store | changes.new).items() if key not in changes.gone}
        assert len(changes.header) < 1000
    assert len(store) < 5 * 12, "a slice per batch and section, for the batches still inside"
    assert sum(rows.num_rows for (section, _), rows in store.items() if section.startswith("window/")) < 2 * 1300
