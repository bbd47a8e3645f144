"""A run that is split into other operators, or put together again, at any time gives what the oracle gives."""

from typing import Any

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.control.shaped import Shaped
from dovetail.engine.buffer.section import Changes
from dovetail.model.tree import Tree
from dovetail.testing import Script, assert_same_rows, assert_subset, oracle, ordered, play_event
from tests.properties.scripts import scripts
from tests.properties.test_aggregates import aggregating
from tests.properties.test_split_plans import three_or_four, trees


def played(query: dv.Query, script: Script, shapes: dict[int, Tree | None], pauses: set[int]) -> tuple[pa.Table, int]:
    """All results, and how often the shape did change."""
    run, results = query.local(threads=1), []
    for place, happening in enumerate(script):
        if place in pauses:
            run = query.local(snapshot=run.snapshot(), threads=1)
        if place in shapes:
            assert isinstance(run.operator, Shaped)
            run.operator.reshape(shapes[place])
        results.append(play_event(run, happening))
    return pa.concat_tables(results), run.metrics()["reshaped"]


def changes(data: st.DataObject, names: list[str], script: Script) -> dict[int, Tree | None]:
    places = data.draw(st.sets(st.integers(0, len(script) - 1), min_size=1, max_size=5))
    return {place: data.draw(st.none() | trees(names)) for place in places}


def names_of(drawn: Any) -> list[str]:
    return [stream.name for stream in drawn.streams]


@given(st.data())
def test_shapes_change_nothing(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(["none", "none", "hold", "adaptive", "sync"])))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    rows, reshaped = played(query, script, changes(data, names_of(drawn), script), pauses)
    outcome = oracle(query.model, script)
    event(f"reshaped: {reshaped > 0}, results: {outcome.rows.num_rows > 0}")
    assert_same_rows(rows, outcome.rows)
    assert query.model.order == "none" or ordered(rows)


@given(st.data())
@settings(max_examples=20)
def test_shapes_change_no_aggregate(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating(most=4).filter(lambda drawn: len(drawn[0].streams) > 2))
    script = data.draw(scripts(drawn))
    rows, _ = played(query, script, changes(data, names_of(drawn), script), set())
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert ordered(rows)


@given(st.data())
@settings(max_examples=20)
def test_kept_late_rows_add_no_wrong_result_in_other_shapes(data: st.DataObject) -> None:
    drawn = data.draw(three_or_four)
    script = data.draw(scripts(drawn))
    kept = drawn.build(late="keep")
    rows, _ = played(kept, script, changes(data, names_of(drawn), script), set())
    assert_subset(rows, oracle(kept.model, script).rows)
    assert_subset(oracle(drawn.build().model, script).rows, rows)


@given(st.data())
@settings(max_examples=20)
def test_the_changes_of_a_run_are_its_state_in_every_shape(data: st.DataObject) -> None:
    """Whoever keeps what each call changed, as a state store does, can go on from it after any of them."""
    drawn = data.draw(three_or_four)
    script = data.draw(scripts(drawn))
    query = drawn.build()
    shapes, results = changes(data, names_of(drawn), script), []
    slices: dict[Any, pa.RecordBatch] = {}
    run = query.local(threads=1)
    for place, happening in enumerate(script):
        if place in shapes:
            run.operator.reshape(shapes[place])  # type: ignore[attr-defined]
        results.append(play_event(run, happening))
        written = run.operator.changes()
        assert not set(written.gone) - slices.keys()
        slices = {key: rows for key, rows in slices.items() if key not in written.gone} | written.new
        fresh = query.local(threads=1)
        fresh.operator.apply(Changes(dict(slices), [], written.header))
        if data.draw(st.booleans()):
            run = fresh
    assert_same_rows(pa.concat_tables(results), oracle(query.model, script).rows)
