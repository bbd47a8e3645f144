"""Rows that lie too far ahead: the cut is the oracle's, whatever the batches, buckets and restarts."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.plan.partition_grid import partition_grid
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.spark.arrivals import read_arrivals
from dovetail.runtime.spark.pack import Packer
from dovetail.testing import Advance, Push, assert_same_rows, oracle

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
CELLS = 4


def duration(us: int | None) -> str | None:
    return None if us is None else f"{us} us"


def query(a: int | None = 5, b: int | None = 9, **options: Any) -> dv.Query:
    streams = [
        dv.stream(name, time="ts", window="40 us", delay="20 us", schema=SCHEMA, ahead=duration(ahead))
        for name, ahead in (("A", a), ("B", b))
    ]
    return dv.join(*streams, on="A.k = B.k", **{"select": "A.ts AS a, B.ts AS b"} | options)


def rows(values: list[tuple[int | None, int]]) -> pa.Table:
    times, keys = [time for time, _ in values], [key for _, key in values]
    return pa.table([pa.array(times, SCHEMA.field(0).type), pa.array(keys, pa.int64())], SCHEMA)


ROWS = st.lists(st.tuples(st.none() | st.integers(0, 60) | st.integers(0, 1000), st.integers(0, 5)), max_size=4)
BATCH = st.dictionaries(st.sampled_from("AB"), ROWS.map(rows), min_size=1, max_size=2).map(Push)
EVENTS = st.lists(BATCH | st.builds(Advance, st.sampled_from("AB"), st.integers(0, 80)), max_size=12)
AHEAD = st.sampled_from([(5, 9), (7, None), (0, 0), (None, 30)])


def given_out(engine: Engine, event: Push | Advance) -> list[pa.RecordBatch]:
    return list(engine.push(event.batch) if isinstance(event, Push) else engine.advance(event.stream, event.time_us))


def counts(engine: Engine, reason: str) -> dict[str, int]:
    return {name: stream[reason] for name, stream in engine.metrics()["streams"].items()}


@settings(deadline=None)
@given(EVENTS, AHEAD)
def test_an_engine_cuts_where_the_oracle_does(events: list[Any], ahead: Any) -> None:
    join = query(*ahead)
    engine, found = Engine(join.plan), []
    for event in events:
        found += given_out(engine, event)
        state = engine.state()
        engine = Engine.restore(join.plan, state.new, state.header)
    found += list(engine.close())
    wanted = oracle(join.model, events)
    assert counts(engine, "ahead") == wanted.ahead
    assert counts(engine, "late") == wanted.late
    assert_same_rows(pa.Table.from_batches(found, join.schema), wanted.rows)


@settings(deadline=None)
@given(st.lists(BATCH, max_size=8), AHEAD)
def test_every_bucket_comes_to_the_same_cut(batches: list[Push], ahead: Any) -> None:
    join = query(*ahead)
    plan = plan_query(join.model)
    engines, found = [Engine(plan) for _ in range(CELLS)], []
    for push in batches:
        packed = pack(join, push)
        for number, engine in enumerate(engines):
            arrivals = read_arrivals([packed[packed["bucket"] == number]], plan.columns)
            found += list(engine.push(arrivals.blocks(), arrivals.newest, arrivals.spans))
    found += [batch for engine in engines for batch in engine.close()]
    wanted = oracle(join.model, batches)
    assert len({engine.line.inputs.horizon.reference for engine in engines}) == 1
    assert {name: sum(counts(engine, "ahead")[name] for engine in engines) for name in "AB"} == wanted.ahead
    assert_same_rows(pa.Table.from_batches(found, join.schema), wanted.rows)


def pack(join: dv.Query, push: Push) -> pd.DataFrame:
    packed = [PACKED_NOTHING]
    gap_us = min(stream.ahead_us for stream in join.model.streams if stream.ahead_us is not None)
    grid = partition_grid(join.model, CELLS)
    for position, stream in enumerate(join.model.streams):
        packer = Packer(stream, position, ("ts", "k"), ("ts", "k"), (), grid, tuple(range(CELLS)), gap_us=gap_us)
        for at, batch in enumerate(push.batch.get(stream.name, SCHEMA.empty_table()).to_batches(max_chunksize=2)):
            packed.append(packer.pack(batch, at, 0, 0).to_pandas())
    return pd.concat(packed)


PACKED_NOTHING = pd.DataFrame({"bucket": pd.Series([], dtype="int32"), "partition": [], "sequence": []})


def test_one_row_of_the_far_future_no_longer_poisons_a_stream() -> None:
    far = 4_102_444_800_000_000  # the year 2100
    run = query(late="divert").local()
    run.push("A", rows([(100, 1), (far, 1)]))
    run = query(late="divert").local(snapshot=run.snapshot())
    run.push("A", rows([(far, 2), (None, 2)]))
    assert run.push("B", rows([(101, 1)])).num_rows == 1
    assert run.push("A", rows([(102, 1)])).num_rows == 1
    streams = run.metrics()["streams"]
    assert [streams["A"][reason] for reason in ("rows", "late", "ahead", "null_time")] == [5, 0, 2, 1]
    assert run.late["reason"].to_pylist()[-2:] == ["no time", "ahead"]


def test_shared_queries_are_guarded_too() -> None:
    near, far = query(), query(select="A.k")
    run = dv.share(near.named("near"), far.named("far")).local()
    run.push("A", rows([(100, 1), (900, 1)]))
    assert run.push("B", rows([(101, 1), (900, 1)])).num_rows == 2
    operators = run.metrics()["operators"].values()
    assert [each["streams"][name]["ahead"] for each in operators for name in "AB"] == [1, 1]


def test_several_operators_are_refused() -> None:
    streams = [dv.stream(n, time="ts", window="1 s", ahead="1 hour", schema=SCHEMA) for n in "ABC"]
    with pytest.raises(dv.QueryError, match="how far ahead a row lies is judged by all streams"):
        dv.join(*streams, on="A.k = B.k AND B.k = C.k", plan="binary")
    with pytest.raises(dv.StreamError, match=r"ahead .* is negative"):
        dv.stream("A", time="ts", ahead="-1 s", schema=SCHEMA)
