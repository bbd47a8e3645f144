"""What a join under a CPU budget left out and what that cost, as plain values: one schema for both runtimes."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Any

_SUMMED = ("given_s", "used_s", "comparisons", "comparisons_skipped", "results", "missed", "pending")


def budget_report(state: Mapping[str, Any], estimate: Mapping[str, float]) -> dict[str, Any]:
    """From the state of an engine's shedding: throttle, slices, tuples, comparisons, and the results missed."""
    decision = state["decision"]
    return {
        "throttle": decision["throttle"],
        "kept": decision["kept"],
        "harvest": _harvest(decision["picks"]),
        "dropped": state["dropped"],
        "comparisons": state["counts"].get("compared", 0),
        "comparisons_skipped": state["counts"].get("skipped", 0),
        **estimate,
    }


def _harvest(picks: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """By arriving and probed stream: the slices' edges, best first, and the share of them that is looked through."""
    if picks is None:
        return None
    return {
        arriving: {
            name: {"edges_us": edges, "ranking": ranking, "fraction": (chosen + part) / len(ranking)}
            for name, (edges, ranking, chosen, part) in each.items()
        }
        for arriving, each in picks.items()
    }


def merged_budgets(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All buckets together: sums, and a band that is as wide as independent bands add up to."""
    sums = {name: sum(report.get(name, 0) for report in reports) for name in _SUMMED}
    spread = hypot(*(report["missed_high"] - report["missed"] for report in reports))
    dropped: dict[str, int] = {}
    for report in reports:
        for name, count in report["dropped"].items():
            dropped[name] = dropped.get(name, 0) + count
    low, high = max(0.0, sums["missed"] - spread), sums["missed"] + spread
    return {
        **sums,
        "dropped": dropped,
        "throttle": sum(report["throttle"] for report in reports) / len(reports),
        "short": any(report["short"] for report in reports),
        "missed_low": low,
        "missed_high": high,
        "completeness": _share(sums["results"], sums["missed"] + sums["pending"], reports, "completeness"),
        "completeness_low": _share(sums["results"], high + 2 * sums["pending"], reports, "completeness_low"),
        "completeness_high": _share(sums["results"], low, reports, "completeness_high"),
    }


def _share(results: float, missed: float, reports: Sequence[Mapping[str, Any]], name: str) -> float:
    """The share of all results; where there are none, no more than the worst bucket says."""
    return results / (results + missed) if results + missed else min(float(report[name]) for report in reports)
