"""A join whose plan changes in the middle gives what the oracle gives: nothing wrong, nothing twice, nothing lost."""

from itertools import permutations

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.decision import Decision
from dovetail.plan.choose_algorithm import possible_algorithms
from dovetail.plan.join_graph import close_equalities
from dovetail.runtime.local import Run
from dovetail.testing import Script, assert_same_rows, oracle, play
from dovetail.testing.replay import play_event
from tests.properties.queries import queries
from tests.properties.scripts import scripts


def decisions(query: dv.Query) -> st.SearchStrategy[Decision]:
    """Any structures that the predicates allow, any probe orders, tied or not, and windows that forget lazily."""
    names, predicates = query.model.names, close_equalities(query.model.predicates)
    algorithms = {name: st.sampled_from(possible_algorithms(name, predicates)) for name in names}
    orders = {name: st.sampled_from(list(permutations(set(names) - {name}))) for name in names}
    some = st.lists(st.sampled_from(names), unique=True).map(tuple)
    lazy = some if query.model.how == "inner" else st.just(())
    return st.builds(Decision, st.fixed_dictionaries(algorithms), st.fixed_dictionaries(orders), lazy, st.just(1))


def play_with_changes(run: Run, script: Script, changes: dict[int, Decision]) -> pa.Table:
    results = []
    for place, happening in enumerate(script):
        if place in changes:
            run.operator.adopt(changes[place])  # type: ignore[attr-defined]
        results.append(play_event(run, happening))
    return pa.concat_tables(results)


@given(st.data())
def test_results_do_not_change_when_the_plan_does(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    script = data.draw(scripts(drawn, ticks=True))
    query = drawn.build()
    changes = data.draw(st.dictionaries(st.integers(0, len(script) - 1), decisions(query), max_size=4))
    run = query.local()
    assert_same_rows(play_with_changes(run, script, changes), oracle(query.model, script).rows)
    event(f"changes: {len(changes)}")


@given(st.data())
def test_a_run_goes_on_from_a_snapshot_with_the_plan_it_had(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=4))
    script = data.draw(scripts(drawn))
    query = drawn.build()
    decision, pause = data.draw(decisions(query)), data.draw(st.integers(1, len(script) - 1))
    run = query.local()
    before = play_with_changes(run, script[:pause], {0: decision})
    again = query.local(snapshot=run.snapshot())
    assert again.metrics()["plan"] == run.metrics()["plan"]
    assert_same_rows(pa.concat_tables([before, play(again, script[pause:])]), oracle(query.model, script).rows)
