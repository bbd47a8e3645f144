"""What a running pipeline did, batch by batch, read from Spark's own progress reports.

Each bucket ends its batch with a report row; ``observe`` collects them, and they reach the driver with the
batch's progress. Nothing needs to be switched on:

    started = query.spark().writeStream.format("noop").start()
    spark_metrics(started)[-1]["results"]
"""

import json
from collections.abc import Iterable
from typing import Any

from dovetail.model.duration import duration_at_least
from dovetail.observe.budget_report import merged_budgets
from dovetail.observe.statistics_report import merged

OBSERVATION = "dovetail-"
PACKING = "packing-dovetail-"
REPORTS = "reports"
_SUMMED = ("results", "bytes_written", "load_us", "join_us", "save_us")


def spark_metrics(query: Any) -> list[dict[str, Any]]:
    """The batches that Spark still remembers of a ``StreamingQuery`` (the last 100), oldest first."""
    batches = (batch_metrics(progress) for progress in query.recentProgress)
    return [batch for batch in batches if batch is not None]


def batch_metrics(progress: Any) -> dict[str, Any] | None:
    """One batch from a ``StreamingQueryProgress``; None if no bucket had anything to do."""
    observed = [row for name, row in progress.observedMetrics.items() if name.startswith(OBSERVATION)]
    reports = [report for row in observed for report in _reports(row)]
    if not reports:
        return None
    budgets = [report["engine"]["budget"] for report in reports if "budget" in report["engine"]]
    return {
        "batch": progress.batchId,
        "timestamp": progress.timestamp,
        "duration_ms": dict(progress.durationMs),
        **{name: sum(report[name] for report in reports) for name in _SUMMED},
        "streams": _streams(reports, _packing(progress)),
        "lateness": _lateness(reports),
        "statistics": merged([r["engine"]["statistics"] for r in reports if "statistics" in r["engine"]]),
        **({"budget": merged_budgets(budgets)} if budgets else {}),
        "buckets": sorted(reports, key=lambda report: int(report["bucket"])),
    }


def _reports(row: Any) -> list[dict[str, Any]]:
    """Over Spark Connect a row comes as its values and its schema."""
    fields = row.asDict()
    texts = fields[REPORTS] if REPORTS in fields else fields["values"][0]
    return [json.loads(text) for text in texts]


def _packing(progress: Any) -> dict[str, int]:
    """Microseconds spent packing each stream."""
    rows = [row.asDict() for name, row in progress.observedMetrics.items() if name.startswith(PACKING)]
    pairs = [(row["pack_us"], row["stream"]) if "stream" in row else row["values"] for row in rows]
    return {stream: spent for spent, stream in pairs if stream is not None}


def _lateness(reports: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each stream with rows that came later than its delay allows: the delay that would have kept all of them."""
    needed: dict[str, int] = {}
    for report in reports:
        for name, stream in report["engine"]["streams"].items():
            needed[name] = max(needed.get(name, 0), stream.get("lateness_us", 0))
    return {name: {"lateness_us": us, "delay": duration_at_least(us)} for name, us in needed.items() if us}


def _streams(reports: Iterable[dict[str, Any]], packing: dict[str, int]) -> dict[str, dict[str, int]]:
    """Packers' totals per stream, over all buckets."""
    streams: dict[str, dict[str, int]] = {}
    for report in reports:
        for name, totals in report["packed"].items():
            own = streams.setdefault(name, dict.fromkeys(totals, 0))
            for total, value in totals.items():
                own[total] += value
    return {name: {**totals, "pack_us": packing.get(name, 0)} for name, totals in streams.items()}
