"""One budget for queries that share: with spill each as alone, with harvest a part of it, in its order."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import TimeWindow
from dovetail.plan.share_queries import window_size
from dovetail.testing import Script, assert_same_rows, assert_subset, oracle, ordered, play_event
from tests.properties.queries import RandomQuery, queries
from tests.properties.scripts import scripts
from tests.properties.shared_queries import query_sets, rows_of
from tests.properties.test_sharing_kinds import one_of_many
from tests.properties.test_shedding import BUDGET, decisions


def played(members: list[dv.Query], script: Script, pauses: set[int], steer: Any = None) -> tuple[pa.Table, Any]:
    shared = dv.share(*members)
    run, results = shared.local(), []
    for place, happening in enumerate(script):
        if place in pauses:
            run = shared.local(snapshot=run.snapshot())
        if steer is not None:
            steer(run, place)
        results.append(play_event(run, happening))
    return pa.concat_tables(results), run


@given(st.data())
def test_what_spills_is_not_lost_to_any_query(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    budget = dv.budget(memory=dv.tuples(data.draw(st.integers(1, 4))), policy="spill")
    made = [data.draw(one_of_many(drawn, f"query {at}")) for at in range(data.draw(st.integers(1, 5)))]
    members = [replace(each, model=replace(each.model, budget=budget)) for each in made]
    script = data.draw(scripts(drawn, ticks=True))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    rows, run = played(members, script, pauses)
    event(f"spilled: {any(each['memory']['flushes'] for each in run.metrics()['operators'].values())}")
    for query in members:
        own = rows_of(rows, query)
        assert_same_rows(own, oracle(query.model, script).rows)
        assert query.model.order == "none" or ordered(own)


def shedding(data: st.DataObject, drawn: RandomQuery, members: list[dv.Query], steers: bool) -> None:
    script = data.draw(scripts(drawn, ticks=True))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
    sizes = [[window_size(each.model.stream(stream.name).window) for each in members] for stream in drawn.streams]
    widest = drawn.with_windows(*(TimeWindow(max(each)) for each in sizes))
    places = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=4)) if steers else set()
    changes = {place: data.draw(decisions(widest, most=0.5)) for place in places}

    def steer(run: Any, place: int) -> None:
        if place in changes:
            for group in run.operator.groups.values():
                (readings,) = group.statistics()
                group.adopt(replace(readings.decision, shed=changes[place]))

    rows, run = played(members, script, pauses, steer)
    told = run.metrics()["queries"]
    for query in members:
        own, whole = rows_of(rows, query), oracle(query.model, script).rows
        assert_subset(own, whole)
        assert query.model.order == "none" or ordered(own)
        account = told[query.name]
        assert account["results"] == own.num_rows
        assert 0 <= account["completeness_low"] <= account["completeness"] <= account["completeness_high"] <= 1
        event(f"missing: {own.num_rows < whole.num_rows}")


@settings(max_examples=25)
@given(st.data())
def test_what_is_skipped_makes_no_wrong_row_in_any_query(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    shedding(data, drawn, data.draw(query_sets(drawn, most=5, budget=BUDGET)), steers=True)


@settings(max_examples=25)
@given(st.data())
def test_shorter_windows_make_no_wrong_row_in_any_query(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3))
    budget = dv.budget(memory=dv.tuples(data.draw(st.integers(1, 12))))
    shedding(data, drawn, data.draw(query_sets(drawn, most=5, budget=budget)), steers=False)
