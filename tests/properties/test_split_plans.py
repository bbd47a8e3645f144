"""Several operators give what one operator gives: any tree, any windows, delays and orders, with pauses."""

from itertools import pairwise

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.tree import Tree, tree_text
from dovetail.testing import assert_same_rows, assert_subset, oracle, play
from dovetail.testing.compare import ordered
from dovetail.testing.replay import play_event
from tests.properties.queries import RandomQuery, queries, row_windows, time_windows
from tests.properties.scripts import scripts
from tests.properties.test_aggregates import aggregating


@st.composite
def trees(draw: st.DrawFn, names: list[str]) -> Tree:
    """Any nesting of these streams, in any order."""
    if len(names) == 1:
        return names[0]
    shuffled = draw(st.permutations(names))
    cuts = draw(st.sets(st.integers(1, len(names) - 1), min_size=1))
    ends = [0, *sorted(cuts), len(names)]
    return tuple(draw(trees(shuffled[a:b])) for a, b in pairwise(ends))


def plans(drawn: RandomQuery) -> st.SearchStrategy[Tree]:
    return st.one_of(st.just("binary"), trees([stream.name for stream in drawn.streams]))


three_or_four = queries(most=4).filter(lambda drawn: len(drawn.streams) > 2)


@given(st.data())
def test_every_tree_gives_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    plan = data.draw(plans(drawn))
    script = data.draw(scripts(drawn))
    query = drawn.build(plan=plan)
    run, outcome = query.local(), oracle(query.model, script)
    assert_same_rows(play(run, script), outcome.rows)
    counted = run.metrics()["streams"]
    assert {name: counted[name]["late"] for name in counted} == outcome.late
    event(f"{tree_text(plan)}, results: {'some' if outcome.rows.num_rows else 'none'}")


@given(st.data())
def test_ordered_output_of_trees_stays_in_order_and_pauses_change_nothing(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    query = drawn.build(plan=data.draw(plans(drawn)), order=data.draw(st.sampled_from(["sync", "hold", "adaptive"])))
    script = data.draw(scripts(drawn))
    pause = data.draw(st.integers(0, len(script) - 1))
    run, results = query.local(), []
    for place, happening in enumerate(script):
        if place == pause:
            run = query.local(snapshot=run.snapshot())
        results.append(play_event(run, happening))
    rows = pa.concat_tables(results)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@given(st.data())
def test_kept_late_rows_in_trees_add_no_wrong_result(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    script = data.draw(scripts(drawn))
    kept = drawn.build(plan=data.draw(plans(drawn)), late="keep")
    rows = play(kept.local(), script)
    assert_subset(rows, oracle(kept.model, script).rows)
    assert_subset(oracle(drawn.build().model, script).rows, rows)


@settings(max_examples=25)
@given(st.data())
def test_aggregates_over_trees_are_those_of_counting_again(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating(most=4).filter(lambda drawn: len(drawn[0].streams) > 2))
    script = data.draw(scripts(drawn))
    rows = play(query.replace(plan=data.draw(plans(drawn))).local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@settings(max_examples=25)
@given(st.data())
def test_row_windows_at_the_top_of_a_tree(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4).filter(lambda drawn: len(drawn.streams) > 2))
    *below, top = [stream.name for stream in drawn.streams]
    windows = [data.draw(time_windows()) for _ in below]
    drawn = drawn.with_windows(*windows, data.draw(row_windows()))
    query = drawn.build(plan=(data.draw(trees(below)), top), order=data.draw(st.sampled_from(["none", "sync", "hold"])))
    script = data.draw(scripts(drawn))
    rows = play(query.local(), script)
    assert query.model.order == "none" or ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


@settings(max_examples=25)
@given(st.data())
def test_what_trees_leave_out_makes_no_wrong_row(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    memory = dv.tuples(data.draw(st.integers(2, 12)))
    budget = data.draw(
        st.sampled_from([dv.budget(cpu=0.01), dv.budget(memory=memory), dv.budget(cpu=0.01, memory=memory)])
    )
    query = drawn.build(plan=data.draw(plans(drawn)), budget=budget, order=data.draw(st.sampled_from(["none", "hold"])))
    script = data.draw(scripts(drawn, ticks=True))
    run = query.local()
    rows = play(run, script)
    assert_subset(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)
    account = run.metrics().get("budget") or run.metrics()["memory"]
    assert 0 <= account["completeness_low"] <= account["completeness"] <= account["completeness_high"] <= 1
