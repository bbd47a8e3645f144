"""Budgets as they are declared: what is understood, what is refused and how."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.model.stream import Stream

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


def stream(name: str) -> Stream:
    return dv.stream(name, time="ts", window="1 minute", schema=SCHEMA)


def join(**options: Any) -> dv.Query:
    return dv.join(stream("A"), stream("B"), **{"on": "A.k = B.k"} | options)


def test_a_budget_holds_what_was_given() -> None:
    made = dv.budget(cpu=0.5, memory="1.5 GiB", policy="drop", min_completeness=0.9, strict=True)
    assert (made.cpu, made.memory, made.policy, made.min_completeness, made.strict) == (0.5, 3 << 29, "drop", 0.9, True)
    assert dv.budget(memory=dv.tuples(1000)).memory == dv.Tuples(1000)
    assert str(dv.budget(memory=dv.tuples(5), policy="spill")) == "memory 5 tuples, spill"
    assert str(dv.budget(cpu=1, min_completeness=0.9)) == "cpu 1, harvest, completeness 0.9 or more"


def test_harvest_is_a_policy_with_settings() -> None:
    settings = dv.harvest(
        interval=timedelta(seconds=1), boost=1.5, sample=0.2, slice="2 s", buffer=10, solver="greedy", metric="output"
    )
    assert settings == dv.Harvest(1_000_000, 1.5, 0.2, 2_000_000, 10, "greedy", "output")
    made = dv.budget(cpu=0.1, policy=settings)
    assert (made.policy, made.settings) == ("harvest", settings)


FALSE_ROW = (
    "what is left out would make another row wrong, for which it was a partner or was counted. "
    "Take policy='spill' or 'fail'."
)
MISTAKES: dict[str, Callable[[], Any]] = {
    "budget(): give cpu=, memory= or both; a budget of nothing limits nothing": lambda: dv.budget(),
    "budget(cpu=0): it is a number of cores above 0, like 0.5": lambda: dv.budget(cpu=0),
    "budget(cpu='all'): it is a number of cores above 0, like 0.5": lambda: dv.budget(cpu="all"),  # type: ignore[arg-type]
    "budget(min_completeness=2): it is a number above 0, up to 1": lambda: dv.budget(cpu=1, min_completeness=2),
    "budget(policy='guess'): it is one of 'harvest', 'drop', 'spill', 'fail', or dovetail.harvest(...)": lambda: (
        dv.budget(cpu=1, policy="guess")
    ),
    "budget(policy='spill'): nothing is missing then, so min_completeness= says nothing": lambda: dv.budget(
        memory="1 MB", policy="spill", min_completeness=0.5
    ),
    "budget(memory='much'): write a size like '512 MB', or dovetail.tuples(1000)": lambda: dv.budget(memory="much"),
    "budget(memory='0 MB'): write a size like '512 MB', or dovetail.tuples(1000)": lambda: dv.budget(memory="0 MB"),
    "tuples(0): it is a whole number, 1 or more": lambda: dv.tuples(0),
    "harvest(boost=1): it is a number above 1, the factor by which the throttle opens": lambda: dv.harvest(boost=1),
    "harvest(sample=0): it is a number above 0, up to 1": lambda: dv.harvest(sample=0),
    "harvest(interval='0 s'): it must be longer than 0": lambda: dv.harvest(interval="0 s"),
    "harvest(slice): 'soon' is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'": lambda: (
        dv.harvest(slice="soon")
    ),
    "harvest(buffer=0): it is a number of rows, 1 or more, or None": lambda: dv.harvest(buffer=0),
    "harvest(solver='best'): it is one of 'exhaustive', 'greedy', 'reverse', 'double-sided'": lambda: dv.harvest(
        solver="best"
    ),
    "harvest(metric='x'): it is one of 'output', 'output per cost', 'delta'": lambda: dv.harvest(metric="x"),
    "budget=0.5: make one with dovetail.budget(cpu=..., memory=...)": lambda: join(budget=0.5),
    f"how='left' and budget='cpu harvest' do not go together: {FALSE_ROW}": lambda: join(
        how="left", budget=dv.budget(cpu=0.5)
    ),
    f"how='semi' and budget='cpu drop' do not go together: {FALSE_ROW}": lambda: join(
        how="semi", budget=dv.budget(cpu=0.5, policy="drop")
    ),
    f"aggregates='yes' and budget='cpu harvest' do not go together: {FALSE_ROW}": lambda: join(
        select="COUNT(*) AS n", budget=dv.budget(cpu=0.5)
    ),
    "budget(cpu=..., policy='fail'): too little CPU takes 'harvest' or 'drop'": lambda: join(
        budget=dv.budget(cpu=0.5, policy="fail")
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_named(message: str) -> None:
    with pytest.raises(dv.QueryError) as caught:
        MISTAKES[message]()
    assert str(caught.value) == message
