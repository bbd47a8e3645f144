"""The quick clock of the figures beside the real operator: the same arrivals, and when each result leaves either.

The operator is played tuple by tuple on a simulated clock (``dovetail.testing.simulate_shared``); a stage takes as long
as the matches it finds, and its results leave when it ends.

    >>> largest_difference((1.0, 5.0), "hash", seconds=20)[0] > 0, largest_difference((1.0, 5.0), "hash", seconds=20)[1]
    (True, 0.0)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.control.schedule import urgency
from dovetail.engine.operator.group import Worked
from dovetail.plan.share_queries import ScheduleName
from dovetail.testing.simulate import Arrival
from dovetail.testing.simulate_shared import simulate_shared
from experiments.waiting import SCHEDULES, leaves, worked_off

_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
_PER_MATCH = 0.25  # seconds: half a dozen matches, and arrivals queue
Left = dict[tuple[str, int, int], float]


def largest_difference(
    windows: Sequence[float], stored: str, seconds: int = 90, together: int = 1
) -> tuple[int, float]:
    """Over all schedules: how many results, and by how many seconds one leaves the operator at another moment.

    A result that only one of both gives is infinitely far off. ``together``: so many arrive at once.
    """
    told = _arrivals(3, seconds, together)
    count, most = 0, 0.0
    for schedule in SCHEDULES.values():
        real, clock = played(windows, schedule, told, stored), reckoned(windows, schedule, told)
        count += len(real)
        apart = [abs(real[result] - clock[result]) for result in real.keys() & clock.keys()]
        most = max(most, *apart) if real.keys() == clock.keys() else float("inf")
    return count, round(most, 9)


def _arrivals(seed: int, seconds: int, together: int) -> list[Arrival]:
    """Two a second on average, in groups at one moment each, event times a microsecond apart."""
    random = np.random.default_rng(seed)
    groups = np.unique(random.integers(0, seconds * 10**5, seconds * 2 // together)) * 10
    times = (groups[:, None] + np.arange(together)).ravel()
    streams, keys = random.integers(0, 2, len(times)), random.integers(0, 4, len(times))
    moments = np.repeat(groups + together, together) / 1e6
    return [
        Arrival(float(at), "AB"[stream], {"ts": int(time), "k": int(key)})
        for at, time, stream, key in zip(moments, times, streams, keys, strict=True)
    ]


def played(windows: Sequence[float], schedule: ScheduleName, told: list[Arrival], stored: str) -> Left:
    """When each result left the operator: query, times of A and of B."""
    a, b = (dv.stream(name, time="ts", schema=_SCHEMA) for name in "AB")
    options: Any = {"on": "A.k = B.k", "select": "A.ts AS a, B.ts AS b", "order": "hold", "algorithm": stored}
    queries = [dv.join(a, b, window=f"{window} s", **options).named(str(window)) for window in windows]

    def service(worked: Worked) -> float:
        return _PER_MATCH * worked.found

    released = simulate_shared(dv.share(*queries, schedule=schedule), told, service)
    return {(each.row["query"], _us(each.row["a"]), _us(each.row["b"])): each.at for each in released}


def _us(moment: object) -> int:
    return int(pa.scalar(moment, pa.timestamp("us")).value)


def reckoned(windows: Sequence[float], schedule: ScheduleName, told: list[Arrival]) -> Left:
    """The same by the clock of the figures, where a stage's results leave when it ends."""
    partners = [
        [other for other in told[:at] if other.stream != one.stream and other.row["k"] == one.row["k"]]
        for at, one in enumerate(told)
    ]
    edges = np.array(windows) * 10**6
    stages = [
        [int(np.searchsorted(edges, one.row["ts"] - other.row["ts"])) for other in found]
        for one, found in zip(told, partners, strict=True)
    ]
    matches = np.array([np.bincount(each, minlength=len(windows) + 1)[: len(windows)] for each in stages])
    at, seconds = np.array([one.at for one in told]), _PER_MATCH * matches
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
