"""What metrics say, in the one form that reports have on both runtimes.

    streams   rows so far, late, dropped, watermark, stored, bytes, waiting of each stream
    windows   tuples and bytes of every window, those of intermediate results among them
    results, held, frontier, ...   of the join as a whole; queries: of each query where some are shared

One operator says all that itself. A tree of operators has windows that no stream of the user's fills; operators side
by side each hold a copy of a stream's window, so their stored tuples add up while the rows that came do not.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_BEYOND = 1 << 61  # watermarks before any row and after the last are no times
_ADDED = ("stored", "bytes", "waiting")
_WHOLE = ("late_results", "held", "held_bytes", "waiting_bytes", "bytes")

Metrics = Mapping[str, Any]


def report_of(metrics: Metrics) -> dict[str, Any]:
    """The metrics of a run, of whatever kind."""
    operators = metrics.get("operators")
    if isinstance(operators, Mapping):
        return _side_by_side(metrics, list(operators.values()))
    parts = operators if operators is not None else [metrics]
    whole = {name: value for name, value in metrics.items() if name not in ("operators", "streams")}
    return _timed({**whole, "streams": _streams([metrics]), "windows": _windows(parts)})


def _side_by_side(metrics: Metrics, operators: list[Metrics]) -> dict[str, Any]:
    """Operators that share streams, each with some of the queries."""
    found: dict[str, Any] = {name: sum(each[name] for each in operators) for name in _WHOLE}
    frontiers = [each["frontier"] for each in operators]
    orders = {each["order"] for each in operators}
    return _timed(
        {
            **found,
            "results": sum(each["results"] for each in metrics["queries"].values()),
            "frontier": min(frontiers) if frontiers else None,
            "order": orders.pop() if len(orders) == 1 else "mixed",
            "queries": dict(metrics["queries"]),
            "streams": _streams(operators),
            "windows": _windows(operators),
        }
    )


def _streams(operators: Iterable[Metrics]) -> dict[str, dict[str, Any]]:
    streams: dict[str, dict[str, Any]] = {}
    for operator in operators:
        for name, values in operator["streams"].items():
            known = streams.get(name)
            streams[name] = dict(values) if known is None else _both(known, values)
    return streams


def _both(known: Metrics, more: Metrics) -> dict[str, Any]:
    """The same stream as two operators see it."""
    larger = {
        name: max(known[name], more[name]) for name in known.keys() & more.keys() if _both_numbers(known, more, name)
    }
    return {**known, **more, **larger, **{name: known[name] + more[name] for name in _ADDED}}


def _both_numbers(known: Metrics, more: Metrics, name: str) -> bool:
    return isinstance(known[name], int | float) and isinstance(more[name], int | float)


def _windows(operators: Iterable[Metrics]) -> dict[str, dict[str, int]]:
    windows: dict[str, dict[str, int]] = {}
    for operator in operators:
        for name, values in operator["streams"].items():
            window = windows.setdefault(name, {"stored": 0, "bytes": 0})
            window["stored"] += values["stored"]
            window["bytes"] += values["bytes"]
    return windows


def _timed(report: dict[str, Any]) -> dict[str, Any]:
    """Times that are no times become None."""
    report["frontier"] = event_time(report["frontier"])
    for stream in report["streams"].values():
        stream["watermark"] = event_time(stream["watermark"])
    return report


def event_time(time_us: int | None) -> int | None:
    """A watermark, or None before the first row and after the last.

    >>> event_time(5), event_time(1 << 62)
    (5, None)
    """
    return None if time_us is None or abs(time_us) >= _BEYOND else time_us
