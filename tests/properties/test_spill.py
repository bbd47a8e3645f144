"""With too little memory and the policy "spill", nothing is lost and nothing comes twice, in every kind of join."""

from unittest.mock import patch

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.policies.spill import flush, split
from dovetail.model.window import RowWindow
from dovetail.testing import Event, Script, Tick, assert_same_rows, assert_subset, oracle, ordered, play, play_event
from tests.properties.queries import Draw, RandomQuery, queries
from tests.properties.scripts import scripts
from tests.properties.test_aggregates import aggregating
from tests.properties.test_outer import outer_queries
from tests.properties.test_row_windows import row_queries
from tests.properties.test_split_plans import plans, three_or_four

budgets = st.integers(1, 8).map(lambda count: dv.budget(memory=dv.tuples(count), policy="spill"))
orders = st.sampled_from(["none", "none", "sync", "hold", "adaptive"])


@st.composite
def paused_scripts(draw: Draw, query: RandomQuery) -> Script:
    """A random script in which inputs pause at random places."""
    script: Script = draw(scripts(query))
    pauses = draw(st.sets(st.integers(1, len(script)), max_size=4))
    happenings: list[Event] = []
    for place, happening in enumerate(script, 1):
        happenings.append(happening)
        if place in pauses and place < len(script):
            happenings += [Tick(10**15 + place * 10**9), Tick(10**15 + place * 10**9 + 10**8)]
    return happenings


@given(st.data())
def test_spilling_gives_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders))
    run = query.local()
    rows = play(run, script)
    event(f"flushed: {run.metrics()['memory']['flushes'] > 0}, probed: {run.metrics()['memory']['probes'] > 0}")
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
def test_parts_that_are_merged_while_they_are_owed_lose_nothing(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3) | outer_queries())
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders))
    with patch.object(flush, "_LOADED_SHARE", 6.0):  # or memory this small would make parts of one tuple
        rows = play(query.local(), script)
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
def test_partitions_that_are_split_before_a_pass_lose_nothing(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3) | outer_queries())
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders))
    share = data.draw(st.sampled_from([0.25, 6.0]))
    with patch.object(split, "_FEW", 0), patch.object(flush, "_LOADED_SHARE", share):
        run, given_out = query.local(), list[pa.Table]()
        for at, happening in enumerate(script):
            given_out.append(play_event(run, happening))
            if at % 5 == 4 and at + 1 < len(script):
                run = query.local(snapshot=run.snapshot())
    rows = pa.concat_tables(given_out)
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
def test_spilling_in_outer_joins(data: st.DataObject) -> None:
    drawn = data.draw(outer_queries())
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders))
    rows = play(query.local(), script)
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
@settings(max_examples=25)
def test_spilling_under_aggregates(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating())
    script = data.draw(paused_scripts(drawn))
    spilling = query.replace(budget=data.draw(budgets))
    assert_same_rows(play(spilling.local(), script), oracle(query.model, script).rows)


@given(st.data())
@settings(max_examples=25)
def test_spilling_beside_row_windows(data: st.DataObject) -> None:
    drawn = data.draw(row_queries())
    script = data.draw(paused_scripts(drawn))
    rows = sum(stream.window.count for stream in drawn.streams if isinstance(stream.window, RowWindow))
    query = drawn.build(budget=dv.budget(memory=dv.tuples(rows + 26), policy="spill"), order=data.draw(orders))
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_a_spilled_run_goes_on_from_a_snapshot(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3) | outer_queries())
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=3))
    run, results = query.local(), []
    for place, happening in enumerate(script):
        if place in pauses:
            run = query.local(snapshot=run.snapshot())
        results.append(play_event(run, happening))
    assert_same_rows(pa.concat_tables(results), oracle(query.model, script).rows)


@given(st.data())
@settings(max_examples=25)
def test_every_tree_of_spilling_operators_gives_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(plan=data.draw(plans(drawn)), budget=data.draw(budgets), order=data.draw(orders))
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
@settings(max_examples=25)
def test_kept_late_rows_add_no_wrong_result_and_lose_none_that_is_certain(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    script = data.draw(paused_scripts(drawn))
    kept = drawn.build(late="keep", budget=data.draw(budgets))
    rows = play(kept.local(), script)
    assert_subset(rows, oracle(kept.model, script).rows)
    assert_subset(oracle(drawn.build().model, script).rows, rows)
