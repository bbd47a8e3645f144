"""The policy "fail" with a limit that is reached: a batch is refused whole, with the reason, and leaves no trace."""

import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Event, Script, assert_same_rows, oracle, ordered, play_event
from tests.properties.scripts import one_by_one, scripts
from tests.properties.test_asof import asof_queries
from tests.properties.test_intervals import interval_queries
from tests.properties.test_match import match_queries
from tests.properties.test_orders import ORDERS
from tests.properties.test_stepwise import stepwise_queries
from tests.properties.test_tables import table_queries
from tests.properties.test_unbounded import unbounded_queries

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "intervals": interval_queries(most=3),
    "by stream": stepwise_queries(most=3),
    "as of": asof_queries(),
    "matches": match_queries(),
    "tables": table_queries(),
    "without windows": unbounded_queries(),
}
REFUSED = re.compile(
    r"a batch of \d+ rows of '\w' would bring what is held from \d+ to about \d+, and the budget is memory \d+ tuples, "
    r"fail. Nothing has changed: push less at a time, give "
)


class Limited:
    """A run that is short of memory; ``taken`` is what it did take of a script, ``rows`` what came out."""

    def __init__(self, query: dv.Query) -> None:
        self._query, self._run = query, query.local()
        self.taken: list[Event] = []
        self.rows: list[pa.Table] = []

    def play(self, event: Event) -> bool:
        """Whether there was room for it."""
        before, found = self._run.metrics(), None
        try:
            found = play_event(self._run, event)
        except dv.BudgetError as error:
            said = str(error)
        after = self._run.metrics()
        if found is None:
            assert REFUSED.match(said), said
            assert after == before
            return False
        assert after["memory"]["held"] <= after["memory"]["limit"]
        self.taken.append(event)
        self.rows.append(found)
        return True

    def resume(self) -> None:
        self._run = self._query.local(snapshot=self._run.snapshot())


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_batch_leaves_no_trace(kind: str) -> None:
    """Those after it give what they would if it had never come; pushed row by row, a part of it may fit."""
    refused = 0

    @given(st.data())
    def tried(data: st.DataObject) -> None:
        nonlocal refused
        drawn = data.draw(KINDS[kind])
        script: Script = data.draw(scripts(drawn))
        budget = dv.budget(memory=dv.tuples(data.draw(st.integers(2, 9))), policy="fail")
        query = drawn.build(budget=budget, order=data.draw(st.sampled_from(["none", *ORDERS])))
        again, pauses = data.draw(st.booleans()), data.draw(st.sets(st.integers(0, len(script) - 1), max_size=2))
        run = Limited(query)
        for place, event in enumerate(script):
            if place in pauses:
                run.resume()
            if not run.play(event):
                refused += 1
                for single in one_by_one([event]) if again else ():
                    run.play(single)
        found = pa.concat_tables(run.rows)
        assert_same_rows(found, oracle(query.model, run.taken).rows)
        assert query.model.order == "none" or ordered(found)

    tried()
    assert refused > 10, "the limit is hardly ever reached"
