"""Repeats of rows are dropped and counted, as the oracle says: any join, cut, pause, order, number of threads."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.dedup import Dedup
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.runtime.threads import pays
from dovetail.testing import Push, Script, assert_same_rows, oracle, play
from tests.properties.queries import Draw, RandomQuery, queries
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_asof import asof_queries
from tests.properties.test_orders import ORDERS, resumed

IDS = [("i",), ("j",), ("s", "i"), ("x",)]


@pytest.fixture(scope="module", autouse=True)
def little_is_much() -> Iterator[None]:
    """What is remembered is cleared away all the time, and pushes of two rows are large."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dovetail.engine.admit.repeats._FEW", 1)
        patched.setattr(pays, "LARGE_ROWS", 2)
        yield


def deduplicated(draw: Draw, drawn: RandomQuery) -> RandomQuery:
    streams = tuple(_with_id(draw, stream) if draw(st.integers(0, 2)) else stream for stream in drawn.streams)
    return replace(drawn, streams=streams)


def _with_id(draw: Draw, stream: Stream) -> Stream:
    within = st.integers(0, 8) if not isinstance(stream.window, TimeWindow) else st.sampled_from([None, None, 3])
    return replace(stream, dedup=Dedup(draw(st.sampled_from(IDS)), draw(within)))


@st.composite
def repeating(draw: Draw, script: Script) -> Script:
    """The same arrivals, some of them a second time a little later."""
    events = list(script[:-1])
    for _ in range(draw(st.integers(0, 3))):
        pushes = [at for at, event in enumerate(events) if isinstance(event, Push)]
        if pushes:
            at = draw(st.sampled_from(pushes))
            events.insert(draw(st.integers(at + 1, min(len(events), at + 4))), events[at])
    return [*events, script[-1]]


@given(st.data())
def test_repeats_are_dropped_and_counted_as_the_oracle_says(data: st.DataObject) -> None:
    drawn = deduplicated(data.draw, data.draw(queries(most=4) | asof_queries()))
    script = data.draw(repeating(data.draw(scripts(drawn, ticks=True, tied=data.draw(st.booleans())))))
    query = drawn.build()
    run, expected = query.local(), oracle(query.model, script)
    assert_same_rows(play(run, script), expected.rows)
    assert {name: each["repeated"] for name, each in run.metrics()["streams"].items()} == expected.repeated


@given(st.data())
def test_repeats_with_an_order_and_a_pause(data: st.DataObject) -> None:
    drawn = deduplicated(data.draw, data.draw(queries(most=3)))
    script = data.draw(repeating(data.draw(scripts(drawn))))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_repeats_depend_on_no_cut(data: st.DataObject) -> None:
    drawn = deduplicated(data.draw, data.draw(queries(most=3)))
    script = data.draw(scripts(drawn, late=False, tied=True))
    expected = play(drawn.build().local(), one_by_one(script))
    assert_same_rows(play(drawn.build().local(), data.draw(recut(script))), expected)


@given(st.data())
def test_repeats_meet_whatever_the_number_of_threads(data: st.DataObject) -> None:
    drawn = deduplicated(data.draw, data.draw(queries(most=3)))
    script = data.draw(repeating(data.draw(scripts(drawn))))
    query = drawn.build()
    assert_same_rows(play(query.local(threads=data.draw(st.integers(2, 4))), script), oracle(query.model, script).rows)


@given(st.data())
def test_a_group_drops_what_each_query_alone_would(data: st.DataObject) -> None:
    drawn = deduplicated(data.draw, data.draw(queries(most=2)))
    script = data.draw(repeating(data.draw(scripts(drawn))))
    wider = tuple(
        replace(each, window=TimeWindow(each.window.length_us + 3)) if isinstance(each.window, TimeWindow) else each
        for each in drawn.streams
    )
    members = [drawn.build().named("near"), replace(drawn, streams=wider).build().named("far")]
    together = play(dv.share(*members).local(), script)
    for query in members:
        own = together.filter(pc.equal(together["query"], query.name)).select(query.schema.names)
        assert_same_rows(own, oracle(query.model, script).rows)
