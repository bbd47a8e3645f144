"""Suspended arrivals: under each schedule, stored either way, every query gets its rows in its order, in few passes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.groups import GroupsOperator
from dovetail.control.schedule import MOST_STAGES
from dovetail.engine.combine.staged import StagedProbe, Suspended
from dovetail.engine.operator.engine import Engine
from dovetail.engine.operator.group import MANY_ARRIVALS, Worked
from dovetail.testing import assert_same_rows, ordered
from dovetail.testing.simulate import Arrival
from dovetail.testing.simulate_shared import simulate_shared
from tests.properties.shared_queries import rows_of

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "row": pa.int64()})
SELECT = "A.row AS a, B.row AS b"
SCHEDULES = ("greedy", "smallest", "largest")
WINDOWS: dict[str, Sequence[Any]] = {
    "time": ("2 us", "3 us", "20 us", "50 us"),
    "rows": tuple(dv.rows(count) for count in (1, 2, 9, 30)),
    "rows per key": tuple(dv.rows(count, per="key") for count in (1, 2, 4, 9)),
}


def queries(windows: Sequence[Any], **options: Any) -> list[dv.Query]:
    a, b = (dv.stream(name, time="ts", schema=SCHEMA) for name in "AB")
    made = [dv.join(a, b, on="A.k = B.k", select=SELECT, window=window, **options) for window in windows]
    return [query.named(f"q{at}") for at, query in enumerate(made)]


def arrivals(seed: int, count: int) -> list[Arrival]:
    """In order of time, many at the same time; the last one comes long after all others."""
    random = np.random.default_rng(seed)
    times = [*np.sort(random.integers(0, count, count)).tolist(), 100 * count]
    streams, keys = random.integers(0, 2, count + 1).tolist(), [*random.integers(0, 3, count).tolist(), -1]
    told = zip(times, streams, keys, range(count + 1), strict=True)
    return [Arrival(time / 1e6, "AB"[s], {"ts": time, "k": k, "row": row}) for time, s, k, row in told]


def alone(query: dv.Query, told: list[Arrival]) -> pa.Table:
    run = query.local()
    results = []
    for each in told:
        results.append(run.push(each.stream, [dict(each.row)]))
        results += [run.advance(name, each.row["ts"]) for name in "AB"]
    return pa.concat_tables([*results, run.close()])


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("stored", ["hash", "scan"])
@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
def test_an_overloaded_operator_gives_each_query_what_it_gets_alone(
    windows: Sequence[Any], stored: str, schedule: str
) -> None:
    members, told = queries(windows, order="hold", algorithm=stored), arrivals(5, 120)
    waiting: list[int] = []

    def slow(worked: Worked) -> float:
        """Slower than arrivals come, so that many are suspended at a time."""
        waiting.append(worked.stage)
        return 3e-6

    shared = dv.share(*members, schedule=schedule)
    released = simulate_shared(shared, told, slow)
    results = pa.Table.from_pylist([each.row for each in released], shared.schema)
    assert set(waiting) == set(range(1 if schedule == "largest" else 4))
    for query in members:
        own = rows_of(results, query)
        assert own.num_rows
        assert ordered(own)
        assert_same_rows(own, alone(query, told))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often arrivals look through windows: in stages, and whole."""
    counted: Counter[str] = Counter()
    staged, whole = StagedProbe.stage, Engine.proceed

    def stage(self: StagedProbe, suspended: Suspended) -> Iterator[Any]:
        counted["stages"] += 1
        counted[f"arrivals of stage {suspended.stage}"] += suspended.last - suspended.first
        return staged(self, suspended)

    def proceed(self: Engine) -> Any:
        counted["whole"] += 1
        return whole(self)

    monkeypatch.setattr(StagedProbe, "stage", stage)
    monkeypatch.setattr(Engine, "proceed", proceed)
    return counted


def block(rows: int, first: int = 0) -> pa.Table:
    numbers = np.arange(first, first + rows)
    return pa.table({"ts": numbers, "k": numbers % 10, "row": numbers}).cast(SCHEMA)


@pytest.mark.parametrize("schedule", ["greedy", "smallest"])
def test_a_thousand_queries_are_a_few_passes_over_a_block(passes: Counter[str], schedule: str) -> None:
    members = queries([f"{size} us" for size in range(1, 1001)])
    run = dv.share(*members, schedule=schedule).local()
    for name in "AB":
        run.push(name, block(500))
    assert passes["stages"] == 2 * MOST_STAGES
    assert passes["whole"] == 0
    assert {passes[f"arrivals of stage {stage}"] for stage in range(MOST_STAGES)} == {1000}
    assert isinstance(run.operator, GroupsOperator)
    (group,) = run.operator.groups.values()
    assert not group.suspended


@pytest.mark.slow
def test_many_arrivals_at_once_are_one_pass_however_many_queries(passes: Counter[str]) -> None:
    run = dv.share(*queries([f"{size} us" for size in range(1, 1001)])).local()
    run.push("A", block(MANY_ARRIVALS + 1))
    run.push("B", block(MANY_ARRIVALS + 1))
    assert (passes["stages"], passes["whole"]) == (0, 2)


def test_with_blocks_of_one_every_window_is_a_pass_of_its_own(passes: Counter[str]) -> None:
    run = dv.share(*queries(["2 us", "3 us", "20 us"]), schedule="smallest").local()
    for at in range(10):
        run.push("AB"[at % 2], block(1, at))
    assert passes["stages"] == 30
