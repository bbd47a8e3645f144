"""Every table in this folder, checked against the oracle and against the embedded engine."""

from pathlib import Path
from typing import Any

import pytest

import dovetail as dv
from dovetail.model.query import JoinQuery
from dovetail.sql import bind_condition, bind_list
from dovetail.testing import Scenario, assert_same_rows, load_scenario, oracle, ordered, play

SCENARIOS = {path.stem: load_scenario(path) for path in sorted(Path(__file__).parent.glob("*.md"))}
EACH = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def query(scenario: Scenario, **changes: Any) -> dv.Query:
    options: dict[str, Any] = {**scenario.options, **changes}
    return dv.join(*scenario.streams, **options)


def bound(scenario: Scenario) -> JoinQuery:
    options: dict[str, Any] = dict(scenario.options)
    condition = bind_condition(options.pop("on"), scenario.streams, {})
    chosen = bind_list(options.pop("select", None), scenario.streams, {})
    options["aggregation"] = chosen.aggregation
    return JoinQuery(scenario.streams, condition.predicates, condition.filters, chosen.outputs, **options)


@EACH
def test_the_oracle_gives_the_rows_of_the_table(scenario: Scenario) -> None:
    join = bound(scenario)
    assert_same_rows(oracle(join, scenario.script).rows, scenario.expected(join.schema))


@EACH
def test_the_embedded_engine_gives_them_step_by_step(scenario: Scenario) -> None:
    join = query(scenario)
    scenario.check(join.local(), join.schema)


@EACH
@pytest.mark.parametrize("order", ["sync", "hold", "adaptive"])
def test_every_order_gives_the_same_rows_in_order(scenario: Scenario, order: str) -> None:
    join = query(scenario, order=order)
    rows = play(join.local(), scenario.script)
    assert ordered(rows)
    assert_same_rows(rows, scenario.expected(join.schema))
