"""The multi-way join's formulas, the counts of its table 1, and one operator against several by cost."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from dovetail.plan.assume import assume
from dovetail.plan.choose_plan import choose_plan, decision_of
from dovetail.plan.cost import Weights
from dovetail.plan.plan_query import plan_query
from dovetail.plan.split_operator import split_operator
from dovetail.runtime.operator_of import operator_of
from experiments.mjoin_model import (
    Part,
    Ticks,
    arrival_cost,
    discard_cost,
    output_growth,
    split_cost,
    windowed_output_rate,
)

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
TICKS = Ticks(175, 427, 49)


def join(names: list[str], on: str, **options: object) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="1 hour", schema=SCHEMA) for name in names]
    return dv.join(*streams, on=on, select=f"{names[0]}.k", **options)  # type: ignore[arg-type]


def test_output_rates() -> None:
    assert [output_growth(2, second) for second in (1, 2, 3)] == [1, 3, 5]
    assert windowed_output_rate([0.1, 0.1], [1, 1, 1], [2, 3, 4]) == pytest.approx(0.01 * (12 + 8 + 6))


def test_an_arrival_stops_where_nothing_matches() -> None:
    assert arrival_cost([0, 5], TICKS) == 175 + 427 + 49
    assert arrival_cost([2, 5], TICKS) == 175 + 427 + 49 * 3


def test_the_papers_own_test_would_split_table_1() -> None:
    first, second = Part([0.001], [10_000, 15_000]), Part([], [10_000])
    assert split_cost(first, second, TICKS) == (150_000 + 10_000) * 651
    assert discard_cost(first, second, TICKS) > split_cost(first, second, TICKS)


def test_table_1_hashes_and_moves_of_the_tree() -> None:
    """Each stored tuple is hashed once and each arrival moved once: 35,000 arrivals, 150,000 intermediate results."""
    names = ["S1", "S2", "S3"]
    query = join(names, "S1.k = S2.k AND S2.k = S3.k", plan=(("S1", "S2"), "S3"))
    tree = operator_of(query.plan)
    for name, count in zip(names, (10_000, 15_000, 10_000), strict=True):
        rows = pa.table([pa.array(np.arange(count)).cast(pa.timestamp("us")), np.arange(count) % 1000], schema=SCHEMA)
        for _ in tree.push({name: rows}):
            pass
    joined = [(name, count) for each in tree.statistics() for name, count in each.joined().items()]
    moves = sum(count for name, count in joined if name in names)
    hashes = sum(count for _, count in joined)
    assert (hashes, moves) == (185_000, 35_000)


def comparisons(orders: Mapping[str, tuple[str, ...]], turns: dict[str, list[int]]) -> int:
    """Tuples looked at by all probes of one operator; ``turns``: how many tuples of each stream come in each turn."""
    query = join(["S1", "S2", "S3"], "S1.k = S2.k AND S2.k = S3.k")
    engine = Engine(plan_query(query.model, orders))
    come = dict.fromkeys(turns, 0)
    for turn in range(len(turns["S1"])):
        for name, counts in turns.items():
            numbers = np.arange(come[name], come[name] + counts[turn])
            come[name] += counts[turn]
            if counts[turn]:
                rows = pa.table([pa.array(numbers).cast(pa.timestamp("us")), numbers % 1000], schema=SCHEMA)
                assert sum(batch.num_rows for batch in engine.push({name: rows})) >= 0
    assert come == {"S1": 10_000, "S2": 15_000, "S3": 10_000}
    return int(sum(tally.matched for probe in engine.line.probes.values() for _, tally in probe.tallies))


RIGHT = {"S1": ("S3", "S2"), "S2": ("S1", "S3"), "S3": ("S1", "S2")}
WRONG = {"S1": ("S2", "S3"), "S2": ("S1", "S3"), "S3": ("S2", "S1")}


def test_table_1_a_wrong_order_costs_more_when_streams_advance_in_proportion() -> None:
    """All 1,500,000 results are compared at the last step either way; the orders differ in the step before it."""
    steady = {"S1": [100] * 100, "S2": [150] * 100, "S3": [100] * 100}
    right, wrong = comparisons(RIGHT, steady), comparisons(WRONG, steady)
    assert (right, wrong) == (1_675_750, 1_725_750)


def test_table_1_at_equal_rates_the_difference_nearly_vanishes() -> None:
    """As long as all three come, S2's window is as small as S3's; afterwards only S2 arrives, which has no choice."""
    equal = {"S1": [100] * 100 + [0] * 50, "S2": [100] * 150, "S3": [100] * 100 + [0] * 50}
    right, wrong = comparisons(RIGHT, equal), comparisons(WRONG, equal)
    assert abs(wrong - right) / right < 0.01


def test_table_1_the_planner_takes_the_right_order() -> None:
    """Factors alone tie; selectivity times the tuples in the window does not."""
    query = join(["S1", "S2", "S3"], "S1.k = S2.k AND S2.k = S3.k").model
    known = assume(query, rates={"S1": 10, "S2": 15, "S3": 10}, keys=1000)
    assert decision_of(choose_plan(query, known, Weights())).orders == RIGHT


def test_one_operator_unless_intermediate_results_are_few() -> None:
    query = join(["A", "B", "C"], "A.k = B.k AND B.k = C.k")
    many, costs = split_operator(query.model, assume(query.model, rates=10, keys=100), Weights())
    assert many is None, "nine matches per probe make many intermediate results"
    assert costs["one operator"] == min(costs.values())
    assert "(A, (B, C))" in costs
    rare = assume(query.model, rates={"A": 10, "B": 10, "C": 10_000}, keys=100_000)
    one, costs = split_operator(query.model, rare, Weights())
    assert costs["((A, B), C)"] < costs["one operator"]
    assert one is None, "not clearly less"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"window": dv.rows(10)}, "pushes a row out of its window"),
        ({"how": "left"}, "how='by stream' and runs='tree' do not go together"),
    ],
)
def test_what_needs_one_operator_says_so(options: dict[str, object], why: str) -> None:
    streams = [dv.stream(name, time="ts", schema=SCHEMA) for name in "ABC"]
    with pytest.raises(dv.QueryError, match=why):
        dv.join(*streams, on="A.k = B.k AND B.k = C.k", plan="binary", **{"window": "1 hour", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("plan", ["bushy", ("A", "B"), (("A", "B"), "X"), (("A",), "B", "C"), 5])
def test_plans_that_are_none(plan: object) -> None:
    with pytest.raises(dv.QueryError, match="plan"):
        join(["A", "B", "C"], "A.k = B.k AND B.k = C.k", plan=plan)
