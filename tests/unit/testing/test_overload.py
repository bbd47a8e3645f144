"""A join on a made-up CPU: what it is charged for, and what is written down of it."""

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows, correlated_streams, overload
from dovetail.testing.metered import MeteredRun
from dovetail.testing.overload import played

STREAMS = correlated_streams({"A": 0.0, "B": 1.0}, rate=20, seconds=12)


def query(interval: str = "1 second") -> dv.Query:
    streams = (dv.stream(name, time="ts", window="4 seconds", schema=rows.schema) for name, rows in STREAMS.items())
    budget = dv.budget(cpu=1.0, policy=dv.harvest(interval=interval))
    return dv.join(*streams, on="ABS(A.x - B.x) <= 1", algorithm="scan", budget=budget)


def test_with_enough_it_is_the_join_itself() -> None:
    whole = overload(query(), STREAMS, capacity=1e9)
    plain = query().replace(budget=None).local()
    assert_same_rows(
        whole.rows, pa.concat_tables([*(plain.push(name, rows) for name, rows in STREAMS.items()), plain.close()])
    )
    assert sum(whole.counts) == whole.rows.num_rows
    assert whole.drops[-1] == 0
    assert set(whole.throttles) == {1.0}


def test_its_time_is_its_comparisons_and_its_decisions() -> None:
    run = MeteredRun(query(), capacity=1000.0, decision_s=0.25)
    log = played(run, STREAMS)
    assert run.cpu.time.used_s == pytest.approx(log.comparisons[-1] / 1000 + 12 * 0.25), "until time stops"


def test_what_still_waits_at_the_end_is_joined_then() -> None:
    log = overload(query("10 seconds"), STREAMS, capacity=600.0)
    assert sum(log.counts) < log.rows.num_rows
    assert log.metrics["comparisons"] == log.comparisons[-1] < log.final["comparisons"]


def test_it_can_be_played_for_longer_than_the_streams_last() -> None:
    log = played(MeteredRun(query(), capacity=300.0), STREAMS, step=0.5, seconds=60.0)
    assert len(log.counts) == len(log.cpu_s) == 120
    assert sum(log.counts) == log.rows.num_rows, "what waited had the time to be joined"
