"""A plan drawn as a tree: operators with what they join, streams with how they are stored.

join
├─ (A, B), hash
│  ├─ A, hash
│  └─ B, scan
└─ C, hash
"""

from collections.abc import Iterator, Mapping
from typing import Any


def draw_plan(report: Mapping[str, Any]) -> list[str]:
    """The lines of a report's tree."""
    parts = report.get("parts", {})
    top = parts[report["plan"]] if parts else report
    return ["join", *_branches(top, parts)]


def _branches(operator: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[str]:
    """The streams of one operator, and below each the operator that makes it, if one does."""
    streams = list(operator["streams"].items())
    for name, stream in streams:
        last = name == streams[-1][0]
        yield f"{'└─' if last else '├─'} {name}, {stream['algorithm']}"
        if name in parts:
            yield from (f"{'   ' if last else '│  '}{line}" for line in _branches(parts[name], parts))
