"""What the page asks for, as plain values ready for JSON.

    joins(...)   a line per join for the list
    join(...)    everything about one: numbers, lines to draw, streams (the busiest first), windows, plans, results

A join with a thousand streams is drawn by its busiest few; the table has as many rows as were asked for, of the
streams whose name has the text in it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.dashboard.incoming import Metrics
from dovetail.dashboard.joins import Join, lags
from dovetail.dashboard.shedding import dropped_of, shedding_view

DRAWN = 8  # streams of a plan that fit on a laptop's screen
QUIET_S = 10.0  # two signs of life missed
DEAD_S = 20.0  # four signs of life missed
SHOWN_S = 3600.0  # the hour that is kept
_COUNTS = ("rows", "late", "ahead", "null_time", "repeated", "filtered", "unmatchable", "stored", "bytes", "waiting")


def joins(entries: Mapping[str, Join], touched: Mapping[str, float], now: float) -> list[dict[str, Any]]:
    """All joins heard of in the last hour (or the last one, if that was earlier), those that go on first."""
    newest = max((join.at for join in entries.values()), default=0.0)
    since = min(now - SHOWN_S, newest)
    shown = [join for join in entries.values() if join.at >= since]
    order = {"running": 0, "starting": 0, "quiet": 1}
    lines = [_line(join, state(join, touched, now)) for join in shown]
    return sorted(lines, key=lambda line: (order.get(line["state"], 2), -line["started"], line["name"]))


def _line(join: Join, state: str) -> dict[str, Any]:
    return {
        "name": join.name,
        "state": state,
        "runtime": join.runtime,
        "started": join.started,
        "at": join.at,
        "results_per_s": join.results_rate,
        "streams": len(join.metrics.streams) if join.metrics else len(join.about),
    }


def state(join: Join, touched: Mapping[str, float], now: float) -> str:
    """Whether it runs: by its last words, or by how long it has given no sign of life."""
    if join.last is not None:
        return "failed" if join.reason else "ended"
    if now - max(touched.get(join.run, 0.0), join.at) > DEAD_S:
        return "dead"
    if join.metrics is None:
        return "starting"
    return "quiet" if now - join.at > QUIET_S else "running"


def join_view(join: Join, touched: Mapping[str, float], now: float, rows: int = 25, text: str = "") -> dict[str, Any]:
    """One join in full."""
    metrics = join.metrics
    view = _line(join, state(join, touched, now)) | {
        "now": now,
        "reason": join.reason,
        "restarts": list(join.restarts),
        "reports": join.reports,
        "missed": join.missed,
        "plans": join.plans,
        "recent": {"columns": join.columns, "rows": [{"at": at, "cells": cells} for at, cells in join.rows]},
    }
    return view if metrics is None else view | _measured(join, metrics, rows, text)


def _measured(join: Join, metrics: Metrics, rows: int, text: str) -> dict[str, Any]:
    return {
        "results": metrics.whole.get("results"),
        "late_results": metrics.whole.get("late_results", 0),
        "rows_per_s": sum(join.rates.values()) if join.rates else None,
        "lag_s": max(lags(metrics).values(), default=0.0),
        "late": _sum(metrics, "late"),
        "late_share": max((_late_share(own) for own in metrics.streams.values()), default=0.0),
        "dropped": _sum(metrics, "null_time") + _sum(metrics, "ahead") + sum(dropped_of(metrics.more).values()),
        "held": metrics.whole.get("held", 0),
        "held_bytes": metrics.whole.get("held_bytes", 0),
        "waiting_bytes": metrics.whole.get("waiting_bytes", 0),
        "bytes": sum(own.get("bytes", 0) for own in metrics.windows.values()),
        "order": metrics.words.get("order", "none"),
        "frontier": metrics.whole.get("frontier"),
        "batch": metrics.batch,
        "buckets": metrics.whole.get("buckets"),
        "shedding": shedding_view(metrics.more, join.budget),
        "streams_shown": _streams(join, metrics, rows, text),
        "windows": _windows(metrics),
        "queries": [{"name": name, **values} for name, values in metrics.queries.items()],
        "drawn": _drawn(join, metrics),
    }


def _sum(metrics: Metrics, count: str) -> float:
    return sum(own.get(count, 0.0) for own in metrics.streams.values())


def _late_share(own: Mapping[str, float]) -> float:
    """The late among a stream's rows: those that reached the join, where filters on the way are not counted in."""
    late = own.get("late", 0.0)
    return late / max(own.get("arrived", own.get("rows", 0.0)), late, 1.0)


def _streams(join: Join, metrics: Metrics, rows: int, text: str) -> dict[str, Any]:
    behind, dropped = lags(metrics), dropped_of(metrics.more)
    found = [name for name in _busiest(join, metrics.streams) if text.casefold() in name.casefold()]
    shown = []
    for name in found[:rows]:
        own, about = metrics.streams[name], join.about.get(name)
        counts = {count: own[count] for count in _COUNTS if count in own}
        counts |= {"dropped": dropped.get(name, 0.0)} if dropped else {}
        window = about.get("window") if isinstance(about, Mapping) else None
        more = {"rate": join.rates.get(name), "lag_s": behind.get(name), "watermark": own.get("watermark")}
        shown.append({"name": name, "window": window, **counts, **more})
    return {"rows": shown, "found": len(found), "all": len(metrics.streams)}


def _busiest(join: Join, streams: Mapping[str, Any]) -> list[str]:
    """Streams by their rate; equal ones as the query names them."""
    return sorted(streams, key=lambda name: -join.rates.get(name, 0.0))


def _windows(metrics: Metrics) -> dict[str, Any]:
    largest = sorted(metrics.windows, key=lambda name: -metrics.windows[name].get("bytes", 0.0))
    shown = [{"name": name, **metrics.windows[name]} for name in largest[: 2 * DRAWN]]
    rest = largest[2 * DRAWN :]
    return {"rows": shown, "more": len(rest), "more_bytes": sum(metrics.windows[name].get("bytes", 0) for name in rest)}


def _drawn(join: Join, metrics: Metrics) -> dict[str, Any]:
    """The lines of every plot."""
    streams = sorted(_busiest(join, metrics.streams)[:DRAWN])
    behind = sorted(lags(metrics).items(), key=lambda pair: -pair[1])
    late = sorted(name for name, _ in behind[:DRAWN])
    windows = sorted(row["name"] for row in _windows(metrics)["rows"][:DRAWN])
    queries = sorted(metrics.queries)[:DRAWN]
    names = {
        "results": [("results", "results")],
        "rates": [(name, f"rate {name}") for name in streams],
        "lags": [(name, f"lag {name}") for name in late],
        "memory": [(name, f"bytes {name}") for name in windows],
        "hold": [("held", "held")],
        "completeness": [("completeness", "completeness"), ("throttle", "throttle")],
        "responses": [(name, f"response {name}") for name in queries] or [("batch", "response")],
    }
    return _lines(join, names)


def _lines(join: Join, names: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, Any]:
    wanted = list(dict.fromkeys(key for lines in names.values() for _, key in lines))
    times, values = join.timeline.points(wanted)
    known = {key: line for key, line in zip(wanted, values, strict=True) if any(value is not None for value in line)}
    plots = {
        plot: [{"name": name, "values": known[key]} for name, key in lines if key in known]
        for plot, lines in names.items()
    }
    return {"times": times, "plots": plots}
