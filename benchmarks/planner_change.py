"""Streams that change in the middle of a run: how fast it is afterwards, beside a plan made for the new situation."""

from dataclasses import replace
from itertools import chain
from statistics import median
from time import process_time
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.control.replan import Replan
from dovetail.engine.engine import Engine
from dovetail.plan.choose_plan import Planner, choose_plan, decision_of
from dovetail.plan.cost import Weights
from dovetail.plan.plan_query import plan_query
from dovetail.runtime.workload import SECOND, Pushes, Setting

CHANGES = {
    "rates swap": (Setting((20_000.0, 20.0), 1000, 20_000, 5000), Setting((20.0, 20_000.0), 1000, 20, 5000)),
    "keys collapse": (Setting((5000.0, 5000.0), 100_000, 500, 1000), Setting((5000.0, 5000.0), 2, 500, 1000)),
    "keys spread": (Setting((5000.0, 5000.0), 2, 500, 1000), Setting((5000.0, 5000.0), 100_000, 500, 1000)),
}


def after_change(weights: Weights, tuples: int) -> dict[str, dict[str, Any]]:
    """For each change: the plan after it, and throughput as a share of that of a plan made for it."""
    return {name: _changed(before, after, weights, tuples) for name, (before, after) in CHANGES.items()}


def _changed(before: Setting, after: Setting, weights: Weights, tuples: int) -> dict[str, Any]:
    seconds = tuples / sum(after.rates)
    first, settling = before.pushes(6), _later(after.pushes(6, seed=2), 6)
    timed = _later(after.pushes(seconds, seed=3), 12)
    best = choose_plan(after.query(), after.statistics(), weights)
    query = replace(before.query(), streams=after.query().streams)
    adaptive, made = _adaptive(query, weights), Engine(plan_query(query, algorithms=decision_of(best).algorithms))
    _run(adaptive, chain(first, settling))
    _run(made, chain(first, settling))
    size = max(1, len(timed) // 4)
    parts = [timed[at : at + size] for at in range(0, 4 * size, size)]
    spent = [(_run(adaptive, part), _run(made, part)) for part in parts]
    share = median(made_s / adaptive_s for adaptive_s, made_s in spent)
    return {"plan": dict(adaptive.decision.algorithms), "best": dict(decision_of(best).algorithms), "throughput": share}


def _adaptive(query: Any, weights: Weights) -> Engine:
    engine = Engine(plan_query(query))
    control = Replan(Planner(query, weights))

    def consider() -> None:
        plan = control.decide(engine.plan, engine.observed.statistics())
        if plan is not None:
            engine.replan(decision_of(plan, engine.decision.version + 1))

    engine.between_blocks = consider
    return engine


def _later(pushes: Pushes, seconds: float) -> Pushes:
    """The same rows, so much later."""
    return [(name, _moved(rows, round(seconds * SECOND))) for name, rows in pushes]


def _moved(rows: pa.RecordBatch, by_us: int) -> pa.RecordBatch:
    times = pc.add(rows.column(0).cast(pa.int64()), by_us).cast(pa.timestamp("us"))
    return rows.set_column(0, rows.schema.field(0), times)


def _run(engine: Engine, pushes: Any) -> float:
    started = process_time()
    for name, rows in pushes:
        for _ in engine.push({name: rows}):
            pass
    return process_time() - started
