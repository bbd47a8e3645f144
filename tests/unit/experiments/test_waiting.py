"""The quick clock of the figures beside the real operator: every result leaves at the same moment."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.control.schedule import urgency
from dovetail.engine.operator.group import Worked
from dovetail.plan.share_queries import ScheduleName
from dovetail.testing.simulate import Arrival
from dovetail.testing.simulate_shared import simulate_shared
from experiments.waiting import leaves, worked_off

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
WINDOWS = {"Greedy differs from SWF": (10, 12, 60), "the same": (3, 20, 60)}
PER_MATCH = 0.25


def arrivals(seed: int, seconds: int) -> list[Arrival]:
    random = np.random.default_rng(seed)
    times = np.unique(random.integers(0, seconds * 10**6, seconds * 2))
    streams, keys = random.integers(0, 2, len(times)), random.integers(0, 4, len(times))
    return [
        Arrival(time / 1e6, "AB"[stream], {"ts": int(time), "k": int(key)})
        for time, stream, key in zip(times, streams, keys, strict=True)
    ]


def played(
    windows: Sequence[int], schedule: ScheduleName, told: list[Arrival], stored: str
) -> dict[tuple[str, int, int], float]:
    """When each result left: query, times of A and of B."""
    a, b = (dv.stream(name, time="ts", schema=SCHEMA) for name in "AB")
    options: Any = {"on": "A.k = B.k", "select": "A.ts AS a, B.ts AS b", "order": "hold", "algorithm": stored}
    queries = [dv.join(a, b, window=f"{w} s", **options).named(str(w)) for w in windows]

    def service(worked: Worked) -> float:
        return PER_MATCH * worked.found

    released = simulate_shared(dv.share(*queries, schedule=schedule), told, service)
    return {(each.row["query"], _us(each.row["a"]), _us(each.row["b"])): each.at for each in released}


def _us(moment: object) -> int:
    return int(pa.scalar(moment, pa.timestamp("us")).value)


def reckoned(windows: Sequence[int], schedule: ScheduleName, told: list[Arrival]) -> dict[tuple[str, int, int], float]:
    """The same by the clock of the figures, where a stage's results leave when it ends."""
    partners = [
        [other for other in told[:at] if other.stream != one.stream and other.row["k"] == one.row["k"]]
        for at, one in enumerate(told)
    ]
    edges = np.array(windows) * 10**6
    stages = [[int(np.searchsorted(edges, o.row["ts"] * -1 + one.row["ts"])) for o in found] for one, found in
              zip(told, partners, strict=True)]  # fmt: skip
    matches = np.array([np.bincount(each, minlength=len(windows) + 1)[: len(windows)] for each in stages])
    at, seconds = np.array([one.at for one in told]), PER_MATCH * matches
    if schedule == "largest":
        _, ended = worked_off(at, seconds.sum(axis=1, keepdims=True), np.array([0]))
        ended = np.repeat(ended, len(windows), axis=1)
    else:
        _, ended = worked_off(at, seconds, np.array(urgency(schedule, windows)))
    leaving = leaves(ended, ended, schedule)
    moments = {}
    for one, (arrival, found) in enumerate(zip(told, partners, strict=True)):
        for other, stage in zip(found, stages[one], strict=True):
            for query in range(stage, len(windows)):
                times = {arrival.stream: arrival.row["ts"], other.stream: other.row["ts"]}
                moments[str(windows[query]), times["A"], times["B"]] = float(leaving[query][one, stage])
    return moments


@pytest.mark.parametrize("stored", ["hash", "scan"])
@pytest.mark.parametrize("schedule", ["largest", "smallest", "greedy"])
@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
def test_results_leave_the_real_operator_when_the_clock_says(
    windows: Sequence[int], schedule: ScheduleName, stored: str
) -> None:
    told = arrivals(seed=3, seconds=90)
    real, clock = played(windows, schedule, told, stored), reckoned(windows, schedule, told)
    assert len(real) > 1000
    assert real.keys() == clock.keys()
    assert [real[result] for result in clock] == pytest.approx(list(clock.values()))
