"""Lines of reports, made up for the tests of the page."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RUN = "6af92b4d1c09ab"


def start(run: str = RUN, at: float = 1000.0, query: str = "alarms", **more: Any) -> dict[str, Any]:
    return {"v": 1, "run": run, "kind": "start", "query": query, "at": at, "runtime": "embedded", **more}


def report(number: int, run: str = RUN, at: float | None = None, **metrics: Any) -> dict[str, Any]:
    counts: dict[str, Any] = {"results": 10 * number, "held": 0, "frontier": 5_000_000, "order": "none"} | metrics
    if "streams" not in counts:
        counts["streams"] = {name: stream(rows=100 * number) for name in "AB"}
    counts.setdefault("windows", {name: {"stored": 5, "bytes": 50} for name in counts["streams"]})
    when = 1000.0 + number if at is None else at
    return {"v": 1, "run": run, "kind": "report", "number": number, "at": when, "metrics": counts}


def stream(**values: Any) -> dict[str, Any]:
    return {"rows": 0, "late": 0, "watermark": 5_000_000, "stored": 5, "bytes": 50, "waiting": 0} | values


def end(run: str = RUN, at: float = 2000.0, reason: str | None = None) -> dict[str, Any]:
    return {"v": 1, "run": run, "kind": "end", "at": at, "reason": reason}


def write(folder: Path, lines: Iterable[Mapping[str, Any]], run: str = RUN, number: int = 0, query: str = "q") -> Path:
    path = folder / f"{query}-{run}-{number:06d}.jsonl"
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path
