"""Statistics as plain values, of one engine or of all buckets together."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.model.statistics import Statistics


def statistics_report(known: Statistics) -> dict[str, Any]:
    """What an engine knows, for reports: streams, keys, steps of probes, output."""
    steps = {_step(tie): value for tie, value in known.selectivities.items()}
    return {
        "rates": {name: stream.rate for name, stream in known.streams.items()},
        "tuples": {name: stream.tuples for name, stream in known.streams.items()},
        "keys": dict(known.keys),
        "selectivities": steps,
        "output_rate": known.output_rate or 0.0,
        "busy": known.busy or 0.0,
    }


def merged(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All buckets: rates, tuples, keys, output and work add up; a selectivity is the mean of those who know it.

    >>> one = {"rates": {"A": 10.0}, "tuples": {"A": 5.0}, "keys": {"A.k": 2.0}, "selectivities": {"A -> B": 0.1},
    ...        "output_rate": 1.0, "busy": 0.25}
    >>> both = merged([one, one])
    >>> both["rates"], both["keys"], both["selectivities"], both["busy"]
    ({'A': 20.0}, {'A.k': 4.0}, {'A -> B': 0.1}, 0.5)
    """
    parts = {part: _together([report[part] for report in reports]) for part in ("rates", "tuples", "keys")}
    steps = [report["selectivities"] for report in reports]
    total = _together(steps)
    known = {step: sum(step in each for each in steps) for step in total}
    means = {step: value / known[step] for step, value in total.items()}
    sums = {name: sum(report[name] for report in reports) for name in ("output_rate", "busy")}
    return {**parts, "selectivities": means, **sums}


def _together(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0.0) + value
    return total


def _step(tie: tuple[frozenset[str], str]) -> str:
    return f"{', '.join(sorted(tie[0]))} -> {tie[1]}"
