"""What the figures gave when they were last run: one file each, beside its picture, and the count of verdicts.

Pages, the table of all figures and ``--verdicts`` are made from these files, so that they say the same; the tests
compare them with the figures as they are now.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.outcome import Cause, Outcome
from experiments.papers import PAPERS, figures_of
from experiments.report import as_json

FOLDER = Path(__file__).parents[1] / "docs" / "papers"


def record(outcome: Outcome, short: bool, folder: Path = FOLDER, spark: bool = False) -> Path:
    """Write down an outcome; ``short``: of a short run; ``spark``: of a run on Spark."""
    path = _path(outcome.name, folder, spark)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"short": short, **json.loads(as_json(outcome))}
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def recorded(name: str, folder: Path = FOLDER, spark: bool = False) -> tuple[Outcome, bool] | None:
    """The outcome of a figure, and whether it is of a short run; None if it was never run."""
    path = _path(name, folder, spark)
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    causes = tuple(Cause(each["text"], each["shown"], tuple(each.get("explains", ()))) for each in found["causes"])
    fields = {each: found[each] for each in ("name", "title", "claim", "paper", "ours", "checks")}
    return Outcome(**fields, differences=tuple(found["differences"]), causes=causes), found["short"]


def _path(name: str, folder: Path, spark: bool) -> Path:
    return folder / name.partition("-")[0] / f"{name}{'.spark' if spark else ''}.json"


def all_recorded(folder: Path = FOLDER) -> Iterator[tuple[Outcome, bool]]:
    """Of all papers, in their order."""
    for paper in PAPERS:
        for name in figures_of(paper):
            found = recorded(name, folder)
            if found is not None:
                yield found


def verdicts(folder: Path = FOLDER) -> dict[str, Any]:
    """How many figures there are, hold and fail, and how many checks fail without a shown cause; and which."""
    outcomes = list(all_recorded(folder))
    failing = [outcome.name for outcome, _ in outcomes if not outcome.holds]
    unexplained = [f"{outcome.name}: {check}" for outcome, _ in outcomes for check in outcome.unexplained]
    return {
        "figures": len(outcomes),
        "hold": len(outcomes) - len(failing),
        "fail": len(failing),
        "unexplained": len(unexplained),
        "failing": failing,
        "without a cause": unexplained,
        "of short runs": [outcome.name for outcome, short in outcomes if short],
    }
