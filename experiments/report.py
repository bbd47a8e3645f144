"""An outcome as text for the terminal, and as one line of JSON for programs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from experiments.outcome import Outcome


def verdict(outcome: Outcome) -> str:
    return "holds" if outcome.holds else "does not hold"


def as_text(outcome: Outcome) -> str:
    """The claim, our numbers beside the paper's, the checks, the differences."""
    lines = [f"{outcome.name}: {outcome.title}", f"claim: {outcome.claim}"]
    lines += [f"  {name}: paper {paper}, ours {ours}" for name, paper, ours in numbers(outcome)]
    lines += [f"  {'yes' if passed else 'NO '} {check}" for check, passed in outcome.checks.items()]
    lines += [f"  differs: {difference}" for difference in outcome.differences]
    lines += [f"  because ({'shown' if cause.shown else 'NOT shown'}): {cause.text}" for cause in outcome.why]
    return "\n".join([*lines, verdict(outcome)])


def as_json(outcome: Outcome) -> str:
    """Everything but the picture's looks, in one line."""
    fields = ("name", "title", "claim", "paper", "ours", "checks", "differences")
    content: dict[str, Any] = {field: getattr(outcome, field) for field in fields}
    content["causes"] = [asdict(cause) for cause in outcome.why]
    curves = [
        {"x_axis": panel.x, "y_axis": panel.y, **asdict(curve)} for panel in outcome.panels for curve in panel.curves
    ]
    return json.dumps({**content, "holds": outcome.holds, "curves": curves})


def numbers(outcome: Outcome) -> Iterator[tuple[str, str, str]]:
    """Name, the paper's number, ours; a dash where one of them has none."""
    for name in dict.fromkeys([*outcome.paper, *outcome.ours]):
        yield name, shown(outcome.paper.get(name)), shown(outcome.ours.get(name))


def shown(value: Any) -> str:
    """A number as a reader wants it: 0.33221 is 0.332, nothing is a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
