"""Isolation: each query of a shared operator gets, push by push, the rows it gets alone, in its order."""

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow
from dovetail.testing import Script, assert_same_rows, assert_subset, oracle, ordered, play, play_event
from tests.properties.queries import queries, row_windows, time_windows
from tests.properties.scripts import scripts
from tests.properties.shared_queries import SCHEDULES, query_sets, rows_of, shared_sets


def assert_isolated(shared: dv.SharedQuery, members: list[dv.Query], script: Script, pauses: set[int]) -> None:
    """Push by push the same rows as alone, and over the whole life the same order."""
    run, alone = shared.local(), {query.name: query.local() for query in members}
    given: dict[str | None, list[pa.Table]] = {query.name: [] for query in members}
    for place, happening in enumerate(script):
        if place in pauses:
            run = shared.local(snapshot=run.snapshot())
        results = play_event(run, happening)
        for query in members:
            own = rows_of(results, query)
            assert_same_rows(own, play_event(alone[query.name], happening))
            given[query.name].append(own)
    for query in members:
        assert query.model.order == "none" or ordered(pa.concat_tables(given[query.name]))
    event("some results" if sum(table.num_rows for tables in given.values() for table in tables) else "no results")


@given(st.data())
def test_time_windows(data: st.DataObject) -> None:
    drawn, members = data.draw(shared_sets())
    script = data.draw(scripts(drawn, ticks=True))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    shared = dv.share(*members, schedule=data.draw(st.sampled_from(SCHEDULES)))
    assert_isolated(shared, members, script, pauses)


@given(st.data())
def test_row_windows(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    windows = row_windows() | row_windows() | time_windows()
    drawn = drawn.with_windows(*(data.draw(windows) for _ in drawn.streams))
    members = data.draw(query_sets(drawn, most=8))
    script = data.draw(scripts(drawn))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    assert_isolated(dv.share(*members, schedule=data.draw(st.sampled_from(SCHEDULES))), members, script, pauses)


@settings(max_examples=25)
@given(st.data())
def test_row_windows_per_key(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    drawn = drawn.with_windows(*(RowWindow(1, "key") for _ in drawn.streams))
    try:
        members = data.draw(query_sets(drawn, most=6))
    except dv.PlanError:
        event("a stream without a key")
        return
    script = data.draw(scripts(drawn))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    assert_isolated(dv.share(*members, schedule=data.draw(st.sampled_from(SCHEDULES))), members, script, pauses)


@settings(max_examples=25)
@given(st.data())
def test_windows_of_different_kinds_and_ways_to_store(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    windows = row_windows() | time_windows()
    members = []
    for number in range(3):
        query = drawn.with_windows(*(data.draw(windows) for _ in drawn.streams))
        algorithm = {stream.name: data.draw(st.sampled_from(["scan", "auto"])) for stream in drawn.streams}
        members.append(query.build(algorithm=algorithm).named(f"query {number}"))
    assert_isolated(dv.share(*members), members, data.draw(scripts(drawn)), set())


@settings(max_examples=25)
@given(st.data())
def test_kept_late_rows_add_no_wrong_row_to_any_query(data: st.DataObject) -> None:
    drawn, members = data.draw(shared_sets(late="keep", most=5))
    script = data.draw(scripts(drawn))
    results = play(dv.share(*members, schedule=data.draw(st.sampled_from(SCHEDULES))).local(), script)
    for query in members:
        own = rows_of(results, query)
        assert_subset(own, oracle(query.model, script).rows)
        assert query.model.order == "none" or ordered(own)
        if query.model.order == "none":
            assert_subset(play(query.local(), script), own)
