"""Streams that change in the middle of a run: how soon the plan follows, and how fast the join is afterwards.

Rates that swap, a key set that collapses or spreads, selectivities that drift. Beside the run that adapts, another one
gets the same rows with a plan made for the new situation from the start, which never changes; both are timed in turns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.limit_threads import limit_arrow
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.control.replan import Replanning
from dovetail.control.steered import Steered
from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.engine import Engine
from dovetail.plan.choose_plan import choose_plan, decision_of
from dovetail.plan.cost import Weights
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.calibration import calibrate

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
SETTLING_S, TIMED_S, PARTS = 8.0, 6.0, 12
Push = tuple[str, pa.RecordBatch]
Spent = tuple[float, int]


@dataclass(frozen=True)
class Situation:
    """Tuples per second of each stream, and how many values its columns k and j have."""

    rates: Mapping[str, float]
    keys: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Change:
    """A join, and what is true of its streams before and after."""

    on: str
    window_s: float
    step_s: float
    before: Situation
    after: Situation

    def query(self) -> dv.Query:
        window = f"{self.window_s * 1000:.0f} milliseconds"
        streams = [dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in self.before.rates]
        return dv.join(*streams, on=self.on, select=", ".join(f"{s.name}.ts AS t{s.name}" for s in streams))

    def pushes(self, now: Situation, start_s: float, seconds: float) -> list[Push]:
        """The streams from a moment on; the same rows every time."""
        steps = np.arange(round(start_s / self.step_s), round((start_s + seconds) / self.step_s)) * self.step_s
        return [self._rows(now, name, float(step)) for step in steps for name in now.rates]

    def _rows(self, now: Situation, name: str, start_s: float) -> Push:
        rate, random = now.rates[name], np.random.default_rng([round(start_s * 1000), ord(name)])
        numbers = np.arange(round(start_s * rate), round((start_s + self.step_s) * rate))
        times = pa.array((numbers / rate * 1e6).astype(np.int64)).cast(pa.timestamp("us"))
        columns = [pa.array(random.integers(0, count, len(numbers))) for count in now.keys[name]]
        return name, pa.RecordBatch.from_arrays([times, *columns], schema=SCHEMA)


def _pair(rates: tuple[float, float], keys: int) -> Situation:
    return Situation(dict(zip("AB", rates, strict=True)), dict.fromkeys("AB", (keys, 1)))


_THREE: dict[str, float] = dict.fromkeys("ABC", 2000.0)
CHANGES = {
    "rates swap": Change(
        "A.k = B.k AND A.k = C.k", 1.0, 0.25,
        Situation({"A": 1000.0, "B": 10_000.0, "C": 50.0}, dict.fromkeys("ABC", (200, 1))),
        Situation({"A": 1000.0, "B": 50.0, "C": 10_000.0}, dict.fromkeys("ABC", (200, 1))),
    ),
    "keys collapse": Change("A.k = B.k", 0.1, 0.2, _pair((2000.0, 2000.0), 100_000), _pair((2000.0, 2000.0), 1)),
    "keys spread": Change("A.k = B.k", 0.1, 0.2, _pair((2000.0, 2000.0), 1), _pair((2000.0, 2000.0), 100_000)),
    "selectivities drift": Change(
        "A.k = B.k AND A.j = C.j", 0.5, 0.25,
        Situation(_THREE, {"A": (1000, 50), "B": (1000, 1), "C": (1, 50)}),
        Situation(_THREE, {"A": (50, 1000), "B": (50, 1), "C": (1, 1000)}),
    ),
}  # fmt: skip


def run(settings: Settings) -> Report:
    """Every change, a few times over; of each timed part the fastest try counts."""
    limit_arrow()
    weights = calibrate()
    found = {name: follow(change, weights, settings.choose(8, 1)) for name, change in CHANGES.items()}
    header = ("change", "plan before", "after", "made for it", "followed after s", "throughput share")
    lines = [
        (name, each["before"], each["after"], each["made"], each["followed_s"], each["share"])
        for name, each in found.items()
    ]
    fields = {
        "changes": found,
        "slowest_s": max(each["followed_s"] for each in found.values()),
        "lowest_share": min(each["share"] for each in found.values()),
        "results_equal": all(each["results_equal"] for each in found.values()),
    }
    return Report("Streams that change, and plans that follow", header, lines, fields)


def follow(change: Change, weights: Weights, repeats: int) -> dict[str, Any]:
    """One change."""
    tries = [_try(change, weights, ours_first=bool(count % 2)) for count in range(repeats)]
    ours, made = (sum(min(each[side][at] for each in tries) for at in range(PARTS)) for side in ("ours_s", "made_s"))
    equal = all(each["results"][0] == each["results"][1] for each in tries)
    words = {name: tries[0][name] for name in ("before", "after", "made", "followed_s")}
    return {**words, "share": round(made / ours, 3), "results_equal": equal}


def _try(change: Change, weights: Weights, ours_first: bool) -> dict[str, Any]:
    model = change.query().model
    best = choose_plan(model, _seen_alone(change), weights)
    ours, made = _adaptive(change, weights), Engine(plan_query(model, *_chosen(best)))
    first = change.pushes(change.before, 0, SETTLING_S)
    results = [_push(ours, first), _push(made, first)]
    before, followed_s = _words(ours), 0.0
    for at, push in enumerate(settling := change.pushes(change.after, SETTLING_S, SETTLING_S)):
        now = _words(ours)
        results = [results[0] + _push(ours, [push]), results[1] + _push(made, [push])]
        if _words(ours) != now:
            followed_s = (at + 1) / len(settling) * SETTLING_S
    timed = change.pushes(change.after, 2 * SETTLING_S, TIMED_S)
    cut = [timed[len(timed) * at // PARTS : len(timed) * (at + 1) // PARTS] for at in range(PARTS)]
    spent = [_both(ours, made, part, ours_first) for part in cut]
    results = [results[side] + sum(pair[side][1] for pair in spent) for side in (0, 1)]
    return {
        "before": before, "after": _words(ours), "made": _words(made), "followed_s": followed_s, "results": results,
        "ours_s": [pair[0][0] for pair in spent], "made_s": [pair[1][0] for pair in spent],
    }  # fmt: skip


def _seen_alone(change: Change) -> Any:
    """What an engine sees that knows nothing but the new situation."""
    engine = Engine(change.query().plan)
    _push(engine, change.pushes(change.after, 0, SETTLING_S))
    return engine.line.observed.statistics()


def _adaptive(change: Change, weights: Weights) -> Steered:
    query = change.query()
    operator = Steered(Engine(query.plan), query.model)
    operator.controller.replanning = Replanning(query.model, weights)
    return operator


def _chosen(plan: Any) -> tuple[Any, Any, Any]:
    decision = decision_of(plan)
    return decision.orders, decision.algorithms, decision.lazy


def _words(operator: Operator) -> str:
    """Structures, and where an arrival has a choice of order, what it probes first."""
    (readings,) = operator.statistics()
    decision = readings.decision
    stored = "/".join(decision.algorithms.values())
    first = ", ".join(f"{name}>{order[0]}" for name, order in decision.orders.items() if len(order) > 1)
    return f"{stored} {first}".strip()


def _push(engine: Operator, pushes: list[Push]) -> int:
    return sum(batch.num_rows for name, rows in pushes for batch in engine.push({name: rows}))


def _both(ours: Operator, made: Operator, pushes: list[Push], ours_first: bool) -> tuple[Spent, Spent]:
    """One after the other: who comes second finds the rows in the cache, so both do in turns."""
    if ours_first:
        return _timed(ours, pushes), _timed(made, pushes)
    second = _timed(made, pushes)
    return _timed(ours, pushes), second


def _timed(engine: Operator, pushes: list[Push]) -> Spent:
    started = process_time()
    results = _push(engine, pushes)
    return process_time() - started, results
