"""Joins of one stream after the other with too little memory and the policy "spill": the oracle's rows, each once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.engine.policies.spill import flush, split
from dovetail.testing import Script, Tick, assert_same_rows, oracle, ordered, play_event
from tests.properties.test_orders import ORDERS
from tests.properties.test_spill import budgets, orders, paused_scripts
from tests.properties.test_stepwise import dense, stepwise_queries


@contextmanager
def parts(many: bool) -> Iterator[None]:
    """Parts of several tuples, which are merged, and partitions that are split before every pass; or of single ones."""
    with patch.object(split, "_FEW", 0 if many else 2), patch.object(flush, "_LOADED_SHARE", 6.0 if many else 0.25):
        yield


def played(query: Any, script: Script, pauses: set[int]) -> tuple[pa.Table, Any]:
    run, rows = query.local(), []
    for place, happening in enumerate(script):
        if place in pauses:
            run = query.local(snapshot=run.snapshot())
        rows.append(play_event(run, happening))
    return pa.concat_tables(rows), run


@given(st.data())
def test_the_rows_are_the_oracles(data: st.DataObject) -> None:
    drawn = data.draw(stepwise_queries())
    script = data.draw(paused_scripts(drawn))
    query = drawn.build(budget=data.draw(budgets), order=data.draw(orders))
    with parts(data.draw(st.booleans())):
        rows, run = played(query, script, data.draw(st.sets(st.integers(0, len(script) - 1), max_size=3)))
    event(f"flushed: {run.metrics()['memory']['flushes'] > 0}")
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert query.model.order == "none" or ordered(rows)


@settings(max_examples=40)
@given(st.integers(0, 1_000_000), st.sampled_from(["none", *ORDERS]), st.integers(1, 20), st.booleans())
def test_rows_that_have_many_partners(seed: int, order: str, most: int, many: bool) -> None:
    drawn, script = dense(seed)
    random = np.random.default_rng(seed)
    query = drawn.build(order=order, budget=dv.budget(memory=dv.tuples(most), policy="spill"))
    with parts(many):
        rows, run = played(query, _with_pauses(script, random), set(random.integers(0, len(script), 2).tolist()))
    event(f"passes: {run.metrics()['memory']['passes'] > 1}")
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert order == "none" or ordered(rows)


def _with_pauses(script: Script, random: np.random.Generator) -> Script:
    """Ticks far apart, now and then."""
    every = int(random.integers(2, 20))
    ticks = [[Tick(10**15 + at * 10**9), Tick(10**15 + at * 10**9 + 10**8)] for at in range(len(script))]
    return [each for at, event in enumerate(script) for each in (*(ticks[at] if at % every == 1 else ()), event)]


@settings(max_examples=20)
@given(st.integers(0, 1_000_000), st.integers(1, 12))
def test_shared_ones_and_aggregates(seed: int, most: int) -> None:
    drawn, script = dense(seed)
    random = np.random.default_rng(seed)
    budget = dv.budget(memory=dv.tuples(most), policy="spill")
    counting = ", ".join(f"COUNT({name}.n) AS {name}" for name in "ABCD" if f"{name}.n AS" in str(drawn.select))
    queries = [
        drawn.build(order=str(random.choice(ORDERS)), budget=budget).named("ordered"),
        dv.join(*drawn.streams, on=drawn.on, how=drawn.how, select="A.s AS text", budget=budget).named("few"),
        dv.join(*drawn.streams, on=drawn.on, how=drawn.how, select=counting, budget=budget).named("counting"),
    ]
    shared = dv.share(*queries)
    rows, _ = played(shared, script, set(random.integers(0, len(script), 2).tolist()))
    for query in queries:
        own = rows.filter(pc.equal(rows["query"], query.name)).select(query.model.schema.names)
        assert_same_rows(own, oracle(query.model, script).rows)
