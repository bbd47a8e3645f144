"""Inner joins with time windows: the embedded engine gives what the oracle gives, however it is asked."""

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Script, assert_same_rows, assert_subset, oracle, play
from dovetail.testing.replay import play_event
from tests.properties.queries import queries
from tests.properties.scripts import one_by_one, recut, scripts


@given(st.data())
def test_the_engine_gives_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(queries())
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build()
    outcome = oracle(query.model, script)
    event(f"streams: {len(drawn.streams)}, results: {'some' if outcome.rows.num_rows else 'none'}")
    run = query.local()
    assert_same_rows(play(run, script), outcome.rows)
    counted = run.metrics()["streams"]
    assert {name: counted[name]["late"] for name in counted} == outcome.late
    assert {name: counted[name]["null_time"] for name in counted} == outcome.null_times


@given(st.data())
def test_results_do_not_depend_on_how_input_is_cut(data: st.DataObject) -> None:
    drawn = data.draw(queries())
    script = data.draw(scripts(drawn, late=False))
    query = drawn.build()
    expected = play(query.local(), one_by_one(script))
    assert_same_rows(play(query.local(), script), expected)
    assert_same_rows(play(query.local(), data.draw(recut(script))), expected)


@given(st.data())
def test_results_do_not_depend_on_how_windows_are_stored(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    algorithm = {stream.name: data.draw(st.sampled_from(["hash", "scan", "sorted"])) for stream in drawn.streams}
    try:
        query = drawn.build(algorithm=algorithm)
    except dv.PlanError:
        event("impossible")
        return
    script = data.draw(scripts(drawn))
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_a_run_goes_on_from_a_snapshot_as_if_never_paused(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build()
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=3))
    assert_same_rows(play_with_pauses(query, script, pauses), play(query.local(), script))


def play_with_pauses(query: dv.Query, script: Script, pauses: set[int]) -> pa.Table:
    run, results = query.local(), []
    for place, happening in enumerate(script):
        if place in pauses:
            run = query.local(snapshot=run.snapshot())
        results.append(play_event(run, happening))
    return pa.concat_tables(results)


@given(st.data())
def test_kept_late_rows_add_no_wrong_result_and_lose_none_that_is_certain(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    script = data.draw(scripts(drawn))
    kept = drawn.build(late="keep")
    most, least = oracle(kept.model, script), oracle(drawn.build().model, script)
    rows = play(kept.local(), script)
    assert_subset(rows, most.rows)
    assert_subset(least.rows, rows)
