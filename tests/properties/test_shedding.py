"""Whatever is left out, no wrong row and none twice: the output is part of the oracle's, in order where asked for."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.shedding import Pick, Shed, slice_edges
from dovetail.model.window import TimeWindow
from dovetail.testing import Script, assert_same_rows, assert_subset, oracle
from dovetail.testing.replay import play_event
from tests.properties.queries import RandomQuery, queries, row_windows, time_windows
from tests.properties.scripts import scripts

BUDGET = dv.budget(cpu=1.0, policy=dv.harvest(sample=0.3))


def widths(query: RandomQuery) -> dict[str, int | None]:
    return {s.name: s.window.length_us if isinstance(s.window, TimeWindow) else None for s in query.streams}


@st.composite
def decisions(draw: Any, query: RandomQuery, most: float = 1.0) -> Shed:
    """Any slices of any window, in any order, and any share of the tuples."""
    known = widths(query)
    picks: dict[str, dict[str, Pick]] = {name: {} for name in known}
    for arriving, probed in permutations(known, 2):
        own, other = known[arriving], known[probed]
        edges = slice_edges(own, 8 if other is None else other, draw(st.sampled_from([None, 1, 3])), other is None)
        ranking = tuple(draw(st.permutations(range(len(edges) - 1))))
        chosen = len(ranking) if most == 1 else draw(st.integers(0, len(ranking)))
        picks[arriving][probed] = Pick(edges, ranking, chosen)
    kept = {name: 1.0 if most == 1 else draw(st.sampled_from([1.0, 1.0, 0.5])) for name in known}
    return Shed(draw(st.sampled_from([0.1, 0.5])) if most < 1 else 1.0, picks, kept)


def shed_run(query: dv.Query, script: Script, changes: dict[int, Shed], pauses: set[int]) -> pa.Table:
    run, results = query.local(), []
    for place, happening in enumerate(script):
        if place in pauses:
            run = query.local(snapshot=run.snapshot())
        if place in changes:
            (readings,) = run.operator.statistics()
            run.operator.adopt(replace(readings.decision, shed=changes[place]))  # type: ignore[attr-defined]
        results.append(play_event(run, happening))
    return pa.concat_tables(results)


@settings(max_examples=40)
@given(st.data())
def test_shed_output_is_part_of_the_whole_and_keeps_its_order(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    if data.draw(st.booleans()):
        kinds = st.one_of(row_windows(), time_windows())
        drawn = drawn.with_windows(*(data.draw(kinds) for _ in drawn.streams))
    script = data.draw(scripts(drawn, ticks=True))
    order = data.draw(st.sampled_from(["none", "hold", "sync"]))
    query = drawn.build(budget=BUDGET, order=order)
    places = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=4))
    changes = {place: data.draw(decisions(drawn, most=0.5)) for place in places}
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    rows, whole = shed_run(query, script, changes, pauses), oracle(query.model, script).rows
    event(f"results: {'some' if rows.num_rows else 'none'}, missing: {rows.num_rows < whole.num_rows}")
    assert_subset(rows, whole)
    if order != "none":
        times = rows["result_time"].cast(pa.int64()).to_pylist()
        assert times == sorted(times)


@settings(max_examples=25)
@given(st.data())
def test_with_every_slice_chosen_nothing_is_missing(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    algorithm = data.draw(st.sampled_from(["auto", "hash", "scan", "sorted"]))
    try:
        query = drawn.build(budget=BUDGET, algorithm=algorithm)
    except dv.PlanError:
        query = drawn.build(budget=BUDGET)
    script = data.draw(scripts(drawn))
    changes = {0: data.draw(decisions(drawn))}
    assert_same_rows(shed_run(query, script, changes, set()), oracle(query.model, script).rows)
