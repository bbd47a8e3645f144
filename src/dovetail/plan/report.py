"""A plan as plain values: what ``explain`` puts into words, for programs.

    report["streams"]["A"]["algorithm"], report["probes"]["A"]["steps"][0]["matches"], report["predicted"]["cost"]

Costs are seconds of work per second of the streams' own time: a plan keeps up while that is below 1.
"""

from typing import Any

import pyarrow as pa

from dovetail.model.budget import Budget, Tuples
from dovetail.model.statistics import Statistics
from dovetail.model.window import RowWindow
from dovetail.plan.buckets import buckets_of
from dovetail.plan.choose_algorithm import asked_algorithm
from dovetail.plan.choose_plan import Planner, decision_of
from dovetail.plan.cost import Weights, cost
from dovetail.plan.estimate import output_rate, steps_along
from dovetail.plan.join_graph import close_equalities
from dovetail.plan.keep_groups import where_aggregated
from dovetail.plan.partition_grid import partition_grid
from dovetail.plan.physical import (
    Access,
    AnyAccess,
    BandAccess,
    Key,
    KeyAccess,
    PairAccess,
    Plan,
    SimilarityAccess,
    key_text,
)
from dovetail.plan.split_keys import why_no_split
from dovetail.plan.thread_cells import why_one_thread

ASSUMED_PARTITIONS = 4  # a small session; said in the report
_TEXT_BYTES = 24  # a short name and its offset
_INDEX_BYTES = {"hash": 12, "sorted": 16, "scan": 0}  # a link and its share of the table's heads; two sorted numbers


def plan_report(plan: Plan, known: Statistics, weights: Weights, by_rule: bool = False) -> dict[str, Any]:
    """Everything about a plan; ``by_rule`` says that structures and orders were chosen while nothing was known."""
    query = plan.query
    return {
        "how": query.how,
        "order": str(query.order),
        "late": query.late,
        "operators": 1,
        "plan": "multiway",
        "streams": {name: _stream(plan, name, known, weights, by_rule) for name in query.names},
        "probes": {name: _probe(plan, name, known, by_rule) for name in query.names},
        "leaving": _leaving(plan),
        "aggregates": str(query.aggregation) if query.aggregation else None,
        "predicted": predicted(plan, known, weights),
        "measured": _measured(known),
        "assumed": list(known.assumed),
        "weights": weights.origin,
        "partitioning": _partitioning(plan),
        "one_thread": why_one_thread(query),
        "budget": budget_report(query.budget),
    }


def budget_report(budget: Budget | None) -> dict[str, Any] | None:
    """What a query may use: shares of a core, bytes or tuples, and what gives way."""
    if budget is None:
        return None
    counted = isinstance(budget.memory, Tuples)
    unit = "tuples" if counted else "bytes"
    memory = None if budget.memory is None else {"size": budget.size, "unit": unit}
    return {
        "cpu": budget.cpu,
        "memory": memory,
        "policy": budget.policy,
        "min_completeness": budget.min_completeness,
        "strict": budget.strict,
        "folder": budget.folder,
    }


def _leaving(plan: Plan) -> dict[str, Any] | None:
    """Of a join of one stream after the other: who looks for what is missing, and what is kept for it."""
    if plan.steps is None:
        return None
    names, seen = plan.query.names, len(plan.query.seen)
    look = [name for name, ways in plan.steps.ways.items() if ways]
    kept = [name for name in names if name in plan.steps.kept]
    return {"first": names[0], "look": look, "kept": kept, "probes": seen == len(names)}


def predicted(plan: Plan, known: Statistics, weights: Weights) -> dict[str, Any]:
    """Cost, output rate, and how many times the rates could grow before the join falls behind (None: without end)."""
    now = cost(plan, known, weights)
    orders = {name: [level.stream for level in levels] for name, levels in plan.probes.items()}
    results = output_rate(known, close_equalities(plan.query.predicates), orders)
    return headroom(now) | {"output_rate": results}


def headroom(cost: float) -> dict[str, Any]:
    """Whether a cost can be borne."""
    return {"cost": cost, "keeps_up": cost < 1, "headroom": 1 / cost if cost else None}


def _measured(known: Statistics) -> dict[str, Any] | None:
    if known.busy is None:
        return None
    parts = {
        name: {"insert_s": c.insert_s, "probe_s": c.probe_s, "expiry_s": c.expiry_s} for name, c in known.costs.items()
    }
    return {"cost": known.busy, "output_rate": known.output_rate, "per_tuple": parts}


def _stream(plan: Plan, name: str, known: Statistics, weights: Weights, by_rule: bool) -> dict[str, Any]:
    query, storage, now = plan.query, plan.storage[name], known.streams[name]
    costs = Planner(query, weights).window_costs(decision_of(plan).orders, name, known)
    return {
        "window": str(query.stream(name).window),
        "columns": list(storage.columns),
        "repeats": query.repeats_of(name),
        "filters": [str(condition) for stream, condition in query.filters if stream == name],
        "rate": now.rate,
        "tuples": now.tuples,
        "bytes": now.bytes if now.bytes is not None else now.tuples * _tuple_bytes(plan, name),
        "keys": {key: known.keys[key] for key in _keys(plan, name) if key in known.keys},
        "algorithm": storage.algorithm,
        "why": _why(plan, name, by_rule),
        "costs": costs,
        "invalidation": "lazy" if storage.lazy else "active",
        "idle_us": query.stream(name).idle_us,
        "ahead_us": query.stream(name).ahead_us,
    }


def _keys(plan: Plan, name: str) -> list[str]:
    return [key_text(attribute) for attribute in plan.storage[name].attributes if isinstance(attribute, Key)]


def _why(plan: Plan, name: str, by_rule: bool) -> str:
    if asked_algorithm(plan.query, name) is not None:
        return "set by hand"
    kinds = {"hash": "an equality or a band ties it", "sorted": "a comparison ties it", "scan": "neither would help"}
    return f"by rule: {kinds[plan.storage[name].algorithm]}" if by_rule else "cheapest"


def _tuple_bytes(plan: Plan, name: str) -> int:
    schema, storage = plan.query.stream(name).schema, plan.storage[name]
    widths = (_width(schema.field(column).type) for column in storage.columns)
    indexes = len(storage.hashed) + len(storage.celled) + len(storage.sorted)
    return sum(widths) + 8 * len(storage.attributes) + indexes * _INDEX_BYTES[storage.algorithm]


def _width(type_: pa.DataType) -> int:
    if pa.types.is_fixed_size_list(type_):
        return int(type_.list_size) * _width(type_.value_type)
    return (int(type_.bit_width) + 7) // 8 if pa.types.is_primitive(type_) else _TEXT_BYTES


def _probe(plan: Plan, name: str, known: Statistics, by_rule: bool) -> dict[str, Any]:
    levels, predicates = plan.probes[name], close_equalities(plan.query.predicates)
    along = steps_along(known, predicates, name, [level.stream for level in levels])
    steps = [
        {
            "stream": level.stream,
            "by": access_text(level.access),
            "then": [str(check) for check in level.checks],
            "matches": step.selectivity * step.met.in_time,
        }
        for level, step in zip(levels, along, strict=True)
    ]
    why = "only one" if len(levels) < 2 else "tied first, by kind of tie" if by_rule else "fewest matches first"
    return {"why": why, "steps": steps, "results": along[-1].found}


def access_text(access: Access) -> str:
    """How the tuples of a step are found."""
    if isinstance(access, KeyAccess):
        return f"by {'index' if access.indexed else 'scan'} on {_equalities(access)}"
    if isinstance(access, AnyAccess):
        return "by index on " + " OR ".join(" AND ".join(map(str, b)) for b in access.alternatives.branches)
    if isinstance(access, PairAccess):
        return f"by sorted runs on {_equalities(access.key)} AND {access.band.band}"
    if isinstance(access, BandAccess):
        how = "hashed cells" if access.cells else "sorted runs" if access.indexed else "scan"
        return f"by {how} on {access.band}"
    if isinstance(access, SimilarityAccess):
        return f"by matrix products on {access.similarity}"
    return "by time alone"


def _equalities(access: KeyAccess) -> str:
    return " AND ".join(f"{own} = {other}" for own, other in zip(access.own.expressions, access.bound, strict=True))


def _partitioning(plan: Plan) -> dict[str, Any]:
    query = plan.query
    grid = partition_grid(query, buckets_of(query, ASSUMED_PARTITIONS))
    whole = [s.name for s in query.streams if isinstance(s.window, RowWindow) and s.window.per == "stream"]
    return {
        "partitions": query.partitions,
        "cells": grid.cells,
        "grid": str(grid),
        "aggregated": where_aggregated(grid) if query.aggregation else None,
        "seen_whole": whole,
        "unsplit": why_no_split(query, grid),
    }
