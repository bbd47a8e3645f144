"""One server, arrivals that look through windows in stages, and when each query's results leave.

What an arrival does in a stage takes as long as the tuples it checks there; counted are the tuples and matches of
real streams. The server is the schedule of ``dovetail.control.schedule`` on a simulated clock: when it is free it
takes the most urgent stage that has an arrival waiting. Nothing else decides when results leave, so the clock
needs no rows: a test plays the same arrivals to the real operator and finds every result leaving at the same moment.

    >>> arrivals = np.array([0.0, 0.1])
    >>> begun, ended = worked_off(arrivals, np.array([[1.0, 5.0], [1.0, 5.0]]), np.array([0, 1]))
    >>> ended.tolist()  # both look through the small window before the first goes on
    [[1.0, 7.0], [2.0, 12.0]]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numba import njit

from dovetail.control.schedule import urgency
from dovetail.plan.share_queries import ScheduleName
from dovetail.testing.arrivals import pareto_bursts

Floats = npt.NDArray[np.float64]
SCHEDULES: dict[str, ScheduleName] = {"LWO": "largest", "SWF": "smallest", "Greedy": "greedy"}


@dataclass(frozen=True)
class Shared:
    """Two streams of one rate, the windows of the queries (seconds, ascending), how they are stored, and the load."""

    windows: tuple[float, ...]
    rate: float = 100.0
    stored: Literal["hash", "scan"] = "hash"
    load: float = 0.9
    burst: float = 1.0
    arrivals: int = 100_000
    keys: int = 500
    seed: int = 1


@dataclass(frozen=True)
class Work:
    """When each arrival comes, and per arrival and stage: how many matches it finds, how many seconds it takes."""

    at: Floats
    matches: npt.NDArray[np.int64]
    seconds: Floats


@dataclass(frozen=True)
class Waited:
    """Response times of the results of each query, and the largest numbers of arrivals and of results that waited."""

    mean: list[float]
    longest: list[float]
    over_all: float
    arrivals_waiting: int
    results_waiting: int


@njit(cache=True)
def worked_off(arrivals: Any, seconds: Any, urgency: Any) -> Any:
    """When each arrival began and ended each stage."""
    count, stages = seconds.shape
    begun, ended = np.empty((count, stages)), np.empty((count, stages))
    done = np.zeros(stages, np.int64)
    now, here = 0.0, 0
    while done[stages - 1] < count:
        while here < count and arrivals[here] <= now:
            here += 1
        chosen = -1
        for stage in urgency:
            ready = here if stage == 0 else done[stage - 1]
            if done[stage] < ready:
                chosen = stage
                break
        if chosen < 0:
            now = arrivals[here]
            continue
        one = done[chosen]
        begun[one, chosen] = now
        now += seconds[one, chosen]
        ended[one, chosen] = now
        done[chosen] += 1
    return begun, ended


@cache
def work(shared: Shared) -> Work:
    """The arrivals of both streams once the windows are full, and what they find."""
    seconds = shared.arrivals / (2 * shared.rate) + shared.windows[-1]
    times = [pareto_bursts(shared.rate, seconds, 2 * shared.seed + place, shared.burst) for place in (0, 1)]
    random = np.random.default_rng(shared.seed)
    keys = [random.integers(0, shared.keys, len(each)) for each in times]
    counted = [_counted(times[place], keys[place], times[1 - place], keys[1 - place], shared) for place in (0, 1)]
    at = np.concatenate(times)
    order = np.argsort(at, kind="stable")
    order = order[at[order] >= shared.windows[-1] * 1e6][: shared.arrivals]
    matches, checked = (np.concatenate([each[part] for each in counted])[order] for part in (0, 1))
    cost = (matches if shared.stored == "hash" else checked).astype(np.float64)
    spent = cost.sum() / (at[order[-1]] - at[order[0]]) * 1e6
    return Work(at[order] / 1e6, matches, cost * (shared.load / spent))


def _counted(times: Any, keys: Any, others: Any, other_keys: Any, shared: Shared) -> tuple[Any, ...]:
    """Per arrival and stage: the other stream's tuples of its key, and all of them, that the stage adds."""
    reach = (np.array([0.0, *shared.windows]) * 1e6).astype(np.int64)
    span = np.int64(max(times[-1], others[-1]) + reach[-1] + 2)
    coded = np.sort(other_keys * span + others)
    matches = [_before(coded, keys * span + times, keys * span + np.maximum(times - back, -1)) for back in reach[1:]]
    checked = [_before(others, times, times - back) for back in reach[1:]]
    return tuple(np.diff(np.stack([np.zeros(len(times), np.int64), *each], axis=1)) for each in (matches, checked))


def _before(stored: Any, until: Any, since: Any) -> Any:
    return np.searchsorted(stored, until) - np.searchsorted(stored, since)


def waited(shared: Shared, schedule: str) -> Waited:
    """What a schedule makes results wait."""
    done = work(shared)
    begun, ended = _stages(done, shared, SCHEDULES[schedule])
    found = (begun + ended) / 2
    leaving = leaves(found, ended, SCHEDULES[schedule])
    means, longest, last = [], [], found.copy()
    for query, moments in enumerate(leaving):
        last[:, : query + 1] = np.maximum(last[:, : query + 1], moments)
        counts = done.matches[:, : query + 1]
        waits = moments - done.at[:, None]
        means.append(float((waits * counts).sum() / counts.sum()))
        longest.append(float(waits[counts > 0].max()))
    over_all = float(np.mean(means))
    return Waited(means, longest, over_all, _most(done.at, ended[:, -1]), _most_results(done, found, last))


def leaves(found: Floats, ended: Floats, schedule: ScheduleName) -> list[Floats]:
    """Per query: when the results that each arrival found in each stage leave.

    A result leaves once all arrivals before its own have completed the query's window; under SWF its own must have,
    too. Results of one arrival share its time, so among themselves they may leave in any order.
    """
    previous = np.vstack([np.zeros((1, ended.shape[1])), ended[:-1]])
    free = ended if schedule == "smallest" else previous
    queries = range(ended.shape[1])
    return [np.maximum(found[:, : query + 1], free[:, query : query + 1]) for query in queries]


def _stages(done: Work, shared: Shared, name: ScheduleName) -> tuple[Floats, Floats]:
    if name != "largest":
        order = np.array(urgency(name, shared.windows))
        begun, ended = worked_off(done.at, done.seconds, order)
        return begun, ended
    begun, ended = worked_off(done.at, done.seconds.sum(axis=1, keepdims=True), np.array([0]))
    within = np.cumsum(done.seconds, axis=1)
    return begun + within - done.seconds, begun + within


def _most(come: Floats, gone: Floats) -> int:
    """The largest number that are there at once."""
    moments = np.concatenate([come, gone])
    change = np.concatenate([np.ones(len(come), np.int64), -np.ones(len(gone), np.int64)])
    return int(np.cumsum(change[np.argsort(moments, kind="stable")]).max())


def _most_results(done: Work, found: Floats, left: Floats) -> int:
    moments = np.concatenate([found.ravel(), left.ravel()])
    change = np.concatenate([done.matches.ravel(), -done.matches.ravel()])
    return int(np.cumsum(change[np.lexsort((change, moments))]).max())


def windows_named(name: str) -> tuple[float, ...]:
    """Table 1 of the paper, seconds."""
    return {
        "Uniform": (1.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0),
        "Mostly-Small": (1.0, 5.0, 15.0, 30.0, 60.0, 300.0, 600.0),
        "Mostly-Large": (1.0, 60.0, 300.0, 420.0, 510.0, 570.0, 600.0),
        "Small-Large": (1.0, 5.0, 15.0, 300.0, 510.0, 570.0, 600.0),
    }[name]


DISTRIBUTIONS: Sequence[str] = ("Uniform", "Mostly-Small", "Mostly-Large", "Small-Large")
