"""Counters of cells, put together as if one operator had counted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dovetail.engine.admit.door import REASONS, Lateness
from dovetail.plan.partition_grid import Grid
from dovetail.runtime.threads.redeal_headers import speaking

_HELD = ("stored", "bytes", "waiting", "awaited_by")
_SUMMED = ("results", "late_results", "held", "held_bytes", "waiting_bytes", "bytes")

Metrics = Mapping[str, Any]


def metrics_together(grid: Grid, cells: Sequence[Metrics], extra: Mapping[str, int]) -> dict[str, Any]:
    """Rows count once (``extra`` are those that several cells have counted), what is held as often as it is held.

    Rows that a band copies to two cells and that leave there (late, filtered) count in both.
    """
    together = dict(cells[0]) | {name: sum(cell[name] for cell in cells) for name in _SUMMED}
    together["streams"] = {name: _stream(grid, name, cells) for name in together["streams"]}
    for name, stream in together["streams"].items():
        stream["rows"] -= extra[name]
    if "diverted" in together:
        told = [cell["diverted"] for cell in cells]
        together["diverted"] = {name: sum(each[name] for each in told) for name in told[0]}
    if "queries" in together:
        together["queries"] = {name: _query(name, cells) for name in together["queries"]}
    return together | {"cells": len(cells)}


def _stream(grid: Grid, name: str, cells: Sequence[Metrics]) -> dict[str, Any]:
    told = [cell["streams"][name] for cell in cells]
    once = [told[cell] for cell in speaking(grid, name)]
    counted = {count: sum(each[count] for each in once) for count in REASONS}
    held = {count: sum(each[count] for each in told) for count in _HELD if count in told[0]}
    return {**told[0], **counted, **held, "lateness_us": max(each["lateness_us"] for each in told)}


def _query(name: str, cells: Sequence[Metrics]) -> dict[str, Any]:
    told = [cell["queries"][name] for cell in cells]
    return {**told[0], **{count: sum(each[count] for each in told) for count in ("results", "held")}}


def lateness_of(streams: Mapping[str, Metrics], late: Iterable[str]) -> dict[str, Lateness]:
    """Of streams that have lost rows in some cell, by the counters of all."""
    told = {name: streams[name] for name in late}
    return {name: Lateness(each["rows"], each["late"], each["lateness_us"]) for name, each in told.items()}
