"""The plan of an as-of join as plain values, and in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from dovetail.model.duration import duration_text
from dovetail.model.query import JoinQuery
from dovetail.plan.buckets import buckets_of
from dovetail.plan.partition_grid import partition_grid
from dovetail.plan.physical import key_text
from dovetail.plan.plan_asof import Side, sides_of
from dovetail.plan.thread_cells import why_one_thread

ASSUMED_PARTITIONS = 4  # a small session; said in the report


def asof_report(query: JoinQuery) -> dict[str, Any]:
    """Everything about the plan of an as-of join; there is nothing to be chosen by cost."""
    grid = partition_grid(query, buckets_of(query, ASSUMED_PARTITIONS))
    return {
        "asof": query.answered,
        "how": query.how,
        "order": str(query.order),
        "late": query.late,
        "operators": 1,
        "one_thread": why_one_thread(query),
        "plan": "as of",
        "streams": {side.name: _side(query, side) for side in sides_of(query)},
        "repeats": query.repeats_of(query.answered or ""),
        "filters": [str(condition) for condition in query.filters_of(query.answered)],
        "partitioning": {"partitions": query.partitions, "cells": grid.cells, "grid": str(grid)},
    }


def _side(query: JoinQuery, side: Side) -> dict[str, Any]:
    return {
        "asof": str(side.asof),
        "how": side.asof.how,
        "table": side.judged is not None,
        "key": None if side.own is None else key_text(side.own),
        "asked_by": None if side.bound is None else key_text(side.bound),
        "conditions": [str(condition) for condition in side.conditions],
        "repeats": query.repeats_of(side.name),
        "filters": [str(condition) for condition in query.filters_of(side.name)],
        "columns": list(query.columns_read(side.name)),
        "keeps": _keeps(side),
    }


def _keeps(side: Side) -> str:
    within = None if side.asof.tolerance_us is None else duration_text(side.asof.tolerance_us)
    if side.judged is not None:
        return f"of each key the version that is valid{f', for {within}' if within else ''}, and what is newer"
    if side.asof.direction == "forward":
        return "rows that are not before the next row to be answered"
    if side.conditions:
        return f"rows for {within}"
    return "the last row of each key" + (f", for {within}" if within else "") + ", and what is newer"


def explain_asof(report: Mapping[str, Any]) -> str:
    """A report as text."""
    count = len(report["streams"]) + 1
    lines = [f"as-of join of {count} streams, one operator, order {report['order']}, late rows {report['late']}"]
    lines += [f"each row of {report['asof']}", *(f"  {told}" for told in report["repeats"])]
    lines += [*(f"  only if {condition}" for condition in report["filters"])]
    for name, side in report["streams"].items():
        lines += _answers(name, side)
    session = "" if report["partitioning"]["partitions"] else f" (if the session has {ASSUMED_PARTITIONS} partitions)"
    lines += [f"partitioning on Spark{session}", f"  {report['partitioning']['grid']}"]
    if report["one_thread"]:
        lines += ["embedded, on one thread", f"  {report['one_thread']}"]
    return "\n".join(lines)


def _answers(name: str, side: Mapping[str, Any]) -> Iterator[str]:
    missing = "NULL if there is none" if side["how"] == "left" else "no result if there is none"
    best = f"the best row of {name}: {side['asof']}"
    best = f"the version of {name} that is valid" if side["table"] else best
    yield f"  with {best}; {missing}"
    if side["key"]:
        yield f"    found by chains on {side['key']} = {side['asked_by']}"
    yield from (f"    {told}" for told in side["repeats"])
    yield from (f"    only if {condition}" for condition in (*side["conditions"], *side["filters"]))
    yield f"    keeps {side['keeps']}, columns {', '.join(side['columns'])}"
