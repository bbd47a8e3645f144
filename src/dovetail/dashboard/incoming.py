"""From a line of a report to values of known kinds: numbers that are finite, names that are short, not too many.

    {"kind": "report", "run": "6f1c09ab", "at": 1.79e9, "metrics": {"results": 7, "streams": {"A": {"rows": "x"}}}}
    -> Line("report", "6f1c09ab", 1.79e9, ...), and of stream A nothing, for "x" is no number

Anything else becomes nothing here, so that what follows need not ask.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STREAMS = 2000  # reports are foreign input: far above any real query, and still quick to draw
NAME = 200  # characters; longer ones break the page's lines
TEXT = 2000  # characters: an error with its reason
DEPTH = 12  # a plan of many operators nests about so deeply
ITEMS = 5000  # of one list, so that a report cannot fill the memory
_TIMES = (0.0, 1e11)  # seconds since 1970, until the year 5138

Numbers = dict[str, float]


@dataclass(frozen=True)
class Line:
    """A line that makes sense."""

    kind: str
    run: str
    at: float
    query: str
    number: int
    lost: int
    runtime: str
    reason: str | None
    about: dict[str, Any]
    budget: dict[str, Any]
    metrics: "Metrics | None"
    rows: dict[str, Any] | None
    plans: list[Any] | None


@dataclass(frozen=True)
class Metrics:
    """Counters of one report: of the join, its streams, its windows and its queries."""

    whole: Numbers
    words: dict[str, str]
    streams: dict[str, Numbers]
    windows: dict[str, Numbers]
    queries: dict[str, Numbers]
    batch: Numbers
    more: dict[str, Any] = field(default_factory=dict)


def read_line(value: Mapping[str, Any]) -> Line | None:
    """A line, or None if it says nothing that can be shown."""
    kind, run, at = value.get("kind"), value.get("run"), number(value.get("at"))
    if kind not in ("start", "report", "end") or not isinstance(run, str) or at is None:
        return None
    if not _TIMES[0] <= at <= _TIMES[1]:
        return None
    metrics = value.get("metrics")
    return Line(
        kind=kind,
        run=run[:NAME],
        at=at,
        query=_word(value.get("query"), "join"),
        number=int(number(value.get("number")) or 0),
        lost=int(number(value.get("lost")) or 0),
        runtime=_word(value.get("runtime"), ""),
        reason=None if value.get("reason") is None else str(value["reason"])[:TEXT],
        about=_mapping(clean(value.get("streams"))),
        budget=_mapping(clean(value.get("budget"))),
        metrics=_metrics(metrics) if isinstance(metrics, Mapping) else None,
        rows=_rows(value.get("rows")),
        plans=_list(clean(value.get("plans"))) or None,
    )


_KNOWN = ("streams", "windows", "queries", "batch", "plan", "statistics")


def _metrics(value: Mapping[str, Any]) -> Metrics:
    return Metrics(
        whole=_numbers(value),
        words={str(name)[:NAME]: word[:NAME] for name, word in value.items() if isinstance(word, str)},
        streams=_named(value.get("streams")),
        windows=_named(value.get("windows")),
        queries=_named(value.get("queries")),
        batch=_numbers(value.get("batch")),
        more=_mapping(clean({name: each for name, each in value.items() if name not in _KNOWN})),
    )


def _named(value: Any) -> dict[str, Numbers]:
    """Numbers by name: those of the first so many streams."""
    return {str(name)[:NAME]: _numbers(each) for name, each in list(_mapping(value).items())[:STREAMS]}


def _numbers(value: Any) -> Numbers:
    found = {str(name)[:NAME]: number(each) for name, each in _mapping(value).items()}
    return {name: each for name, each in found.items() if each is not None}


def number(value: Any) -> float | None:
    """A finite number, or None.

    >>> number(3), number("3"), number(True), number(float("nan")), number(10**400)
    (3.0, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def clean(value: Any, depth: int = DEPTH) -> Any:
    """The same value, cut where it is too deep or too long, numbers finite: fit to be written as JSON.

    >>> clean({"a": [1, float("inf"), {"b": "text"}]})
    {'a': [1, None, {'b': 'text'}]}
    """
    if isinstance(value, str):
        return value[:TEXT]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if number(value) is not None else None
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        return {str(name)[:NAME]: clean(each, depth - 1) for name, each in list(value.items())[:ITEMS]}
    if isinstance(value, list | tuple):
        return [clean(each, depth - 1) for each in value[:ITEMS]]
    return None


def _rows(value: Any) -> dict[str, Any] | None:
    """Some results as text, every row as wide as the head."""
    found = _mapping(value)
    columns = [str(name)[:NAME] for name in _list(found.get("columns"))[:50]]
    rows = [[str(cell)[:NAME] for cell in _list(row)[: len(columns)]] for row in _list(found.get("rows"))[:50]]
    kept = [row for row in rows if len(row) == len(columns)]
    return {"columns": columns, "rows": kept} if columns and kept else None


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(value: Any, otherwise: str) -> str:
    return value[:NAME] if isinstance(value, str) and value else otherwise
