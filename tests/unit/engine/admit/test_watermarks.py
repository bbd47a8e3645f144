"""Progress, silence and promises, by hand and against the oracle's book-keeping."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.admit.watermarks import Watermarks
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.operator.engine import Engine
from dovetail.testing import Advance, Event, Push, Tick
from dovetail.testing.history import History

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def query(delay: int = 2, idle: int | None = 5) -> dv.Query:
    quiet = None if idle is None else f"{idle} us"
    a = dv.stream("A", time="ts", window="9 us", delay=f"{delay} us", idle=quiet, schema=SCHEMA)
    b = dv.stream("B", time="ts", window="9 us", idle=quiet, schema=SCHEMA)
    c = dv.stream("C", time="ts", window="9 us", schema=SCHEMA)
    return dv.join(a, b, c, on="A.k = B.k AND B.k = C.k")


def test_a_watermark_is_the_largest_time_less_the_delay_and_never_falls() -> None:
    marks = Watermarks(query().model.streams)
    assert (marks["A"], marks.frontier) == (BEFORE_ALL, BEFORE_ALL)
    marks.saw("A", 10)
    marks.saw("A", 7)
    assert (marks["A"], marks.others("B")) == (8, BEFORE_ALL)
    marks.promise("A", 9)
    marks.promise("A", 3)
    assert marks["A"] == 9
    marks.close()
    assert marks.frontier == AFTER_ALL


def test_silence_begins_at_the_first_tick_after_a_stream_spoke() -> None:
    marks = Watermarks(query().model.streams)
    marks.saw("C", 100)
    marks.tick(0)
    marks.tick(5)
    assert marks["A"] == BEFORE_ALL
    marks.tick(6)
    assert (marks["A"], marks["B"]) == (100, 100)
    restored = Watermarks(query().model.streams)
    restored.restore(marks.header())
    assert restored.state() == marks.state()


@pytest.mark.parametrize("bad", [10**18, -(10**18), 2**63 - 1])
def test_one_bad_reading_of_a_clock_costs_one_reading(bad: int) -> None:
    run = query().local()
    run.push("C", rows([100]))
    run.tick(0)
    run.tick(bad)
    for now, time in ((1, 200), (7, 300), (14, 400)):
        run.push("C", rows([time]))
        run.tick(now)
    run.tick(30)
    streams = run.metrics()["streams"]
    assert {name: each["watermark"] for name, each in streams.items()} == {"A": 400, "B": 400, "C": 400}


def test_silence_of_a_state_that_tells_no_clock_goes_on() -> None:
    marks = Watermarks(query().model.streams)
    marks.restore({"watermarks": {"A": 0, "B": 50, "C": 100}, "heard": {"A": 40, "B": 43, "C": 43}, "spoke": ["C"]})
    marks.tick(46)
    assert (marks["A"], marks["B"]) == (50, 50)


def rows(times: list[int | None]) -> pa.Table:
    return pa.table({"ts": times, "k": [1] * len(times)}, schema=SCHEMA)


EVENTS = st.lists(
    st.builds(Push.of, st.sampled_from("ABC"), st.lists(st.none() | st.integers(0, 30), max_size=3).map(rows))
    | st.builds(Advance, st.sampled_from("ABC"), st.integers(0, 30))
    | st.builds(Tick, st.integers(0, 30) | st.sampled_from([10**18, -(10**18)])),
    max_size=25,
)


@given(EVENTS)
def test_watermarks_and_late_rows_are_those_of_the_oracle(events: list[Event]) -> None:
    join, clock = query(), 0
    engine, script = Engine(join.plan), []
    for event in events:
        if isinstance(event, Tick):
            clock += event.now_us
            event = Tick(clock)
        script.append(event)
        if isinstance(event, Push):
            list(engine.push(event.batch))
        elif isinstance(event, Advance):
            list(engine.advance(event.stream, event.time_us))
        elif isinstance(event, Tick):
            list(engine.tick(event.now_us))
    history, streams = History.of(join.model, script), engine.metrics()["streams"]
    wanted = {name: BEFORE_ALL if mark is None else mark for name, mark in history.watermarks.items()}
    assert {name: stream["watermark"] for name, stream in streams.items()} == wanted
    assert {name: stream["late"] for name, stream in streams.items()} == {n: len(r) for n, r in history.late.items()}
    assert {name: stream["null_time"] for name, stream in streams.items()} == history.null_times
