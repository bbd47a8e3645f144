"""The table of all figures: what the paper states, what ours gives embedded and on Spark, and the verdict."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.outcome import Outcome
from experiments.recorded import all_recorded, verdicts
from experiments.report import numbers, shown, verdict

_INTRO = """# The papers' figures, run again

Each figure of the five papers that Dovetail is built on, from the recorded runs of `experiments`, which were not all
made on one day: the paper's number, ours with the embedded engine, ours on Spark where it was run there, and whether
the whole claim holds. A claim that does not hold is a finding; its page names the cause, and whether a run without that
cause has shown it. `python -m experiments --verdicts --json` counts.
"""


def write_summary(folder: Path) -> Path:
    """README.md beside the pages."""
    page = folder / "README.md"
    page.write_text("\n".join(_lines(folder)) + "\n")
    return page


def _lines(folder: Path) -> Iterator[str]:
    counts = verdicts(folder)
    yield _INTRO
    yield (
        f"**{counts['figures']} figures: {counts['hold']} hold, {counts['fail']} do not; "
        f"of these {counts['unexplained']} have no cause that a run has shown.**\n"
    )
    if counts["of short runs"]:
        yield f"Of short runs: {', '.join(counts['of short runs'])}.\n"
    yield "| figure | | paper | embedded | on Spark | claim |\n|---|---|---|---|---|---|"
    for outcome, _ in all_recorded(folder):
        yield _row(outcome, _on_spark(outcome, folder))


def _row(outcome: Outcome, on_spark: Mapping[str, Any]) -> str:
    stated = [(name, paper, ours) for name, paper, ours in numbers(outcome) if name in outcome.paper]
    first = stated or [(name, paper, ours) for name, paper, ours in numbers(outcome)][:1]
    cells = [
        "<br>".join(f"{name}: {paper}" for name, paper, _ in first) if stated else "-",
        "<br>".join(f"{name}: {ours}" for name, _, ours in first),
        "<br>".join(f"{name}: {shown(value)}" for name, value in on_spark.items()) or "-",
    ]
    explained = "" if outcome.holds or outcome.explained else ", not explained"
    page = f"{outcome.paper_name}.md#{outcome.name}"
    return f"| [{outcome.name}]({page}) | {outcome.title} | {' | '.join(cells)} | {verdict(outcome)}{explained} |"


def _on_spark(outcome: Outcome, folder: Path) -> dict[str, Any]:
    path = folder / outcome.paper_name / f"{outcome.name}.spark.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found
