"""What each operator of a tree may use: by the model, and never next to nothing."""

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.budget import Budget
from dovetail.plan.assume import assume
from dovetail.plan.share_budget import budgeted_tree

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
TREE = (("A", "B"), "C")


def budgets(keys: float, **limits: Any) -> list[Budget]:
    """Of the pair and of the top, where each stream has so many keys: few make many pairs."""
    streams = [dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "ABC"]
    query = dv.join(*streams, on="A.k = B.k AND B.k = C.k", plan=TREE, budget=dv.budget(**limits)).model
    top = budgeted_tree(query, TREE, assume(query, rates=1000, keys=keys))
    return [operator.query.budget for operator in top.operators if operator.query.budget is not None]


def test_the_operator_that_holds_more_gets_more_memory() -> None:
    below, top = budgets(keys=100, memory=dv.tuples(1000), policy="spill")
    assert below.size + top.size == pytest.approx(1000, abs=2)
    assert top.size > 700, "a hundred pairs for each tuple"
    below, top = budgets(keys=1e9, memory=dv.tuples(1000), policy="spill")
    assert below.size > 550, "next to no pairs"
    assert top.size >= 250, "half of an equal part whatever the model says"


def test_the_operator_that_costs_more_gets_more_time() -> None:
    below, top = budgets(keys=100, cpu=0.8, min_completeness=0.25)
    assert below.cpu is not None
    assert top.cpu is not None
    assert below.cpu + top.cpu == pytest.approx(0.8)
    assert top.cpu > 0.5
    assert (below.min_completeness, top.min_completeness) == (0.5, 0.5), "a quarter together"


@pytest.mark.parametrize(
    ("limits", "waits"),
    [({"memory": dv.tuples(9), "policy": "spill"}, True), ({"cpu": 0.5}, True), ({"memory": dv.tuples(9)}, False)],
)
def test_results_that_wait_below_are_not_late_above(limits: dict[str, Any], waits: bool) -> None:
    streams = [dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "ABC"]
    query = dv.join(*streams, on="A.k = B.k AND B.k = C.k", plan=TREE, budget=dv.budget(**limits)).model
    delay_us = budgeted_tree(query, TREE).query.stream("(A, B)").delay_us
    assert (delay_us > 10**15) is waits
