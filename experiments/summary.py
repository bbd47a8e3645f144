"""The table of all figures: what the paper states, what ours gives embedded and on Spark, and the verdict."""

from collections.abc import Iterator
from pathlib import Path

from experiments.outcome import Outcome
from experiments.recorded import all_recorded, recorded, verdicts
from experiments.report import numbers, verdict

_SHOWN = 3  # numbers of a run on Spark: its page has the others

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
        f"{counts['unexplained']} checks fail without a cause that a run has shown.**\n"
    )
    if counts["of short runs"]:
        yield f"Of short runs: {', '.join(counts['of short runs'])}.\n"
    yield "| figure | | paper | embedded | on Spark | claim |\n|---|---|---|---|---|---|"
    for outcome, _ in all_recorded(folder):
        yield _row(outcome, recorded(outcome.name, folder, spark=True))


def _row(outcome: Outcome, on_spark: tuple[Outcome, bool] | None) -> str:
    stated = [(name, paper, ours) for name, paper, ours in numbers(outcome) if name in outcome.paper]
    first = stated or [(name, paper, ours) for name, paper, ours in numbers(outcome)][:1]
    cells = [
        "<br>".join(f"{name}: {paper}" for name, paper, _ in first) if stated else "-",
        "<br>".join(f"{name}: {ours}" for name, _, ours in first),
        "-" if on_spark is None else _on_spark(*on_spark),
    ]
    explained = "" if outcome.holds or outcome.explained else ", not explained"
    page = f"{outcome.paper_name}.md#{outcome.name}"
    return f"| [{outcome.name}]({page}) | {outcome.title} | {' | '.join(cells)} | {verdict(outcome)}{explained} |"


def _on_spark(outcome: Outcome, short: bool) -> str:
    """Its first numbers, and whether the claim holds there."""
    lines = [f"{name}: {ours}" for name, _, ours in list(numbers(outcome))[:_SHOWN]]
    return "<br>".join([*lines, f"**{verdict(outcome)}**{' (short run)' if short else ''}"])
