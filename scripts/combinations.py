"""``python -m scripts.combinations``: tries every pair of features once; ``--page`` writes its page.

The table itself is ``dovetail.model.combinations``. ``wrong`` counts what the oracle contradicts, and what runs or is
refused although the table says otherwise.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from dovetail.model.combinations import AXES, REFUSALS, SHEDS, Combination
from scripts.trial import attempt, whole

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "combinations.md"
HEAD = """# What goes together

Every feature goes with every other, embedded and on Spark, except what the last table names. This page is written from
the table that the checks themselves read (`dovetail.model.combinations`): `python -m scripts.combinations --page`.
`python -m scripts.combinations` tries every pair once and compares rows and order with the oracle.
"""


def pairs() -> Iterator[Combination]:
    """Every two words of two axes, the other axes at their first."""
    for one, other in combinations(AXES, 2):
        for first in AXES[one]:
            for second in AXES[other]:
                yield {one: first, other: second}


def page() -> str:
    """The page about the table."""
    lines = [HEAD, "| axis | words, the first if a query says nothing |", "|---|---|"]
    lines += [f"| {axis} | {', '.join(words)} |" for axis, words in AXES.items()]
    lines += ["", "| refused | because | instead |", "|---|---|---|"]
    for each in REFUSALS:
        when = ", with ".join(f"{axis} {_any(axis, words)}" for axis, words in each.when.items())
        lines.append(f"| {when} | {each.why} | {each.instead} |")
    return "\n".join(lines) + "\n"


def _any(axis: str, words: tuple[str, ...]) -> str:
    if len(words) > 1 and words == AXES[axis][1:]:
        return f"other than {AXES[axis][0]}"
    return "that leaves results out" if words == SHEDS else " or ".join(words)


def try_all(cells: Iterator[Combination], spark: Any) -> dict[str, Any]:
    """The counts, and what was wrong."""
    found: dict[str, Any] = {"cells": 0, "run": 0, "refused": 0, "wrong": 0, "why": {}}
    for cell in cells:
        said = attempt(cell, seed=found["cells"], spark=spark)
        found["cells"] += 1
        found[said if said in ("run", "refused") else "wrong"] += 1
        if said not in ("run", "refused"):
            found["why"][" ".join(cell.values())] = said
    return found


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m scripts.combinations", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--page", action="store_true", help="write docs/reference/combinations.md, and try nothing")
    parser.add_argument("--runtime", choices=AXES["runtime"], help="only the pairs that run on this one")
    asked = parser.parse_args()
    if asked.page:
        PAGE.write_text(page())
        print(f"wrote {PAGE}", file=sys.stderr)
        return 0
    from dovetail.runtime.spark.session import spark_session

    cells = (cell for cell in pairs() if asked.runtime in (None, whole(cell)["runtime"]))
    found = try_all(cells, None if asked.runtime == "embedded" else spark_session(cores=2, name="combinations"))
    print(json.dumps(found) if asked.json else "\n".join(f"{name}: {count}" for name, count in found.items()))
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
