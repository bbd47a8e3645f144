"""What a run with too little memory says of the results it misses, and says again after it was resumed."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.engine.operator.snapshot import pack_snapshot
from dovetail.engine.policies.memory.trim import sample_older
from dovetail.engine.policies.shed.weights import WHOLE
from dovetail.model.fingerprint import fingerprint

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def query(memory: int, **options: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="20 seconds", schema=SCHEMA) for name in "AB"]
    return dv.join(*streams, on="A.k = B.k", select="A.k", budget=dv.budget(memory=dv.tuples(memory), **options))


def play(run: Any, start: int = 0, stop: int = 300, lag: int = 100) -> int:
    """Ten tuples a second of each stream; the partner of a tuple of A comes ten seconds later."""
    made = 0
    for at in range(start, stop):
        made += run.push("A", [{"ts": at * 100_000, "k": at}]).num_rows
        made += run.push("B", [{"ts": at * 100_000, "k": at - lag}]).num_rows
    return made


@pytest.mark.parametrize("memory", [6, 60])
def test_what_is_not_known_is_not_complete(memory: int) -> None:
    """Partners come after all but a few of the tuples have left: 200 results, of which next to none are made."""
    run = query(memory).local()
    made = play(run)
    said = run.metrics()["memory"]
    assert made < 10
    assert said["completeness"] < 0.2
    assert said["completeness_low"] <= made / 200 <= said["completeness_high"] == 1
    assert said["missed_band"][0] <= 200 - made <= said["missed_band"][1]


def test_while_nothing_has_left_everything_is_there() -> None:
    run = query(1000).local()
    assert play(run, lag=0) == 300
    said = run.metrics()["memory"]
    assert said["missed_band"] == (0.0, 0.0)
    assert (said["completeness"], said["completeness_low"], said["completeness_high"]) == (1.0, 1.0, 1.0)


def test_a_snapshot_holds_the_account() -> None:
    join = query(60)
    run = join.local()
    play(run, lag=20)
    again = join.local(snapshot=run.snapshot())
    assert again.metrics()["memory"] == run.metrics()["memory"]
    assert again.metrics()["memory"]["completeness"] < 1
    assert sum(again.metrics()["memory"]["trimmed"].values()) > 400


def batch(start: int, lag: int) -> pa.Table:
    times = np.arange(start, start + 50)
    return pa.table([pa.array(times * 100_000).cast(pa.timestamp("us")), pa.array(times - lag)], SCHEMA)


@pytest.mark.parametrize("cached", [False, True])
def test_a_fresh_engine_goes_on_with_the_account_of_the_state(cached: bool) -> None:
    """As on Spark: only changes are written, and any batch may be another engine's."""
    plan = query(60).plan
    engine, slices = Engine(plan), dict[Any, pa.RecordBatch]()
    for at in range(0, 400, 50):
        for name, lag in (("A", 0), ("B", 20)):
            list(engine.push({name: batch(at, lag)}))
        changes = engine.changes()
        slices = {key: rows for key, rows in (slices | changes.new).items() if key not in changes.gone}
        fresh = Engine.restore(plan, slices, changes.header)
        assert fresh.metrics()["memory"] == engine.metrics()["memory"]
        assert fresh.state() == engine.state()
        engine = engine if cached else fresh
    assert engine.metrics()["memory"]["completeness"] < 1


def test_a_least_completeness_is_judged_by_all_that_was_lost() -> None:
    join = query(60, min_completeness=0.1)
    run = join.local()
    play(run, 0, 90)
    again = join.local(snapshot=run.snapshot())
    play(again, 90, 95)
    before, after = run.metrics()["memory"], again.metrics()["memory"]
    assert before["over"]
    assert after["over"]
    assert after["trimmed"] == before["trimmed"]


def test_a_snapshot_without_an_account_leaves_it_unknown() -> None:
    join = query(60)
    run = join.local()
    play(run, lag=20)
    state = run.operator.state()
    older = json.loads(state.header)
    older["sections"]["memory"] = {}
    written = pack_snapshot(fingerprint(join.model), replace(state, header=json.dumps(older).encode()))
    said = join.local(snapshot=written).metrics()["memory"]
    assert said["completeness_low"] < 0.01
    assert said["completeness"] < 1


@pytest.mark.parametrize("count", [5, 8])
def test_every_older_tuple_is_sampled_with_its_chance(count: int) -> None:
    random, shares = np.random.default_rng(1), np.array([WHOLE] * 30 + [WHOLE // 10] * 7)
    kept, stood_for = np.zeros(len(shares)), 0.0
    for _ in range(2000):
        share, places = sample_older(shares, count, random)
        assert len(places) <= count
        kept[places] += 1
        stood_for += len(places) * WHOLE / share
    assert stood_for / 2000 == pytest.approx(100, rel=0.02)
    assert kept[:30].mean() / 2000 == pytest.approx(count / 100, rel=0.05)
    assert kept[30:].mean() / 2000 == pytest.approx(count / 10, rel=0.05)
