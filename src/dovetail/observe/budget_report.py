"""What a join under a CPU budget left out and what that cost, as plain values: one schema for both runtimes."""

from collections.abc import Mapping
from typing import Any


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
            name: {"edges_us": edges, "ranking": ranking, "fraction": chosen / len(ranking)}
            for name, (edges, ranking, chosen) in each.items()
        }
        for arriving, each in picks.items()
    }
