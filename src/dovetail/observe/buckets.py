"""All buckets of a Spark pipeline as one join: their reports, batch by batch, in the form of an embedded run's.

A batch speaks only of the buckets that had something to do, so each bucket's newest word counts until its next.
Rows and results are summed batch by batch, from the packers (a row that is copied to several buckets came once)
and from the operator on top (results of those below are rows on their way).

    batch 7: bucket 0 stores 10, bucket 1 stores 5        stored 15
    batch 8: bucket 1 stores 9                            stored 19
"""

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.observe.report import event_time

_PACKED = ("rows", "null_times", "filtered")
_SUMMED = ("late", "ahead", "repeated", "unmatchable", "stored", "bytes", "waiting", "awaited_by")
_WHOLE = ("late_results", "held", "held_bytes", "waiting_bytes")

Streams = tuple[str, ...]


class Buckets:
    """What the buckets of a pipeline have said so far."""

    def __init__(self) -> None:
        self._engines: dict[tuple[Streams, int], Mapping[str, Any]] = {}
        self._packed: dict[str, dict[str, int]] = {}
        self._results = 0
        self._batch: dict[str, Any] = {}
        self.statistics: Mapping[str, Any] = {}
        self._budget: dict[str, Any] = {}

    def add(self, batch: Mapping[str, Any]) -> None:
        """One batch, as ``spark_metrics`` gives it."""
        for bucket in batch["buckets"]:
            self._engines[tuple(bucket["engine"]["streams"]), int(bucket["bucket"])] = bucket["engine"]
        top = self._top()
        self._results += sum(each["results"] for each in batch["buckets"] if tuple(each["engine"]["streams"]) in top)
        for name, totals in batch["streams"].items():
            own = self._packed.setdefault(name, dict.fromkeys(_PACKED, 0))
            for total in _PACKED:
                own[total] += totals.get(total, 0)
        self._batch = {"number": batch["batch"], "seconds": batch["duration_ms"].get("triggerExecution", 0) / 1000}
        self.statistics = batch["statistics"]
        self._budget = _budget(batch) or self._budget

    def report(self) -> dict[str, Any]:
        """The join as a whole, so far."""
        top = self._top()
        tops = [engine for (streams, _), engine in self._engines.items() if streams in top]
        known = list(self._engines.values())
        names = {name for engine in known for name in engine["streams"]}
        inner = {_results_of(streams) for streams, _ in self._engines} & names
        windows = {name: self._stream(name, known) for name in sorted(names)}
        frontiers = [time for engine in tops if (time := event_time(engine["frontier"])) is not None]
        return {
            **{name: sum(engine[name] for engine in known) for name in _WHOLE},
            "results": self._results,
            "frontier": max(frontiers, default=None),
            "order": next((engine["order"] for engine in tops), "none"),
            "streams": {name: values for name, values in windows.items() if name not in inner},
            "windows": {name: {"stored": each["stored"], "bytes": each["bytes"]} for name, each in windows.items()},
            "queries": self._queries(tops),
            "buckets": len({bucket for _, bucket in self._engines}),
            "batch": self._batch,
            **({"budget": self._budget} if self._budget else {}),
        }

    def _top(self) -> set[Streams]:
        """The operators whose results leave the pipeline."""
        operators = {streams for streams, _ in self._engines}
        fed = {name for streams in operators for name in streams}
        return {streams for streams in operators if _results_of(streams) not in fed}

    def _stream(self, name: str, engines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        seen = [engine["streams"][name] for engine in engines if name in engine["streams"]]
        packed = self._packed.get(name, dict.fromkeys(_PACKED, 0))
        marks = [time for each in seen if (time := event_time(each["watermark"])) is not None]
        return {
            "rows": packed["rows"],
            "arrived": sum(each.get("rows", 0) for each in seen),
            "null_time": packed["null_times"],
            "filtered": packed["filtered"],
            **{count: sum(each.get(count, 0) for each in seen) for count in _SUMMED},
            "lateness_us": max((each.get("lateness_us", 0) for each in seen), default=0),
            "watermark": max(marks, default=None),
        }

    def _queries(self, engines: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Where queries share the pipeline, all of them get their rows when a batch is done."""
        queries: dict[str, dict[str, Any]] = {}
        for engine in engines:
            for name, values in engine.get("queries", {}).items():
                own = queries.setdefault(name, {"results": 0, "held": 0, "response_s": self._batch["seconds"]})
                own["results"] += values["results"]
                own["held"] += values["held"]
        return queries


def _budget(batch: Mapping[str, Any]) -> dict[str, Any]:
    """Of all buckets together; slices and ages as the first of them has learned them."""
    own = [bucket["engine"]["budget"] for bucket in batch["buckets"] if "budget" in bucket["engine"]]
    learned = {name: own[0][name] for name in ("harvest", "histograms") if own and name in own[0]}
    return {**batch.get("budget", {}), **learned}


def _results_of(streams: Streams) -> str:
    """The name that an operator's results have as a stream of another.

    >>> _results_of(("(A, B)", "C"))
    '((A, B), C)'
    """
    return f"({', '.join(streams)})"
