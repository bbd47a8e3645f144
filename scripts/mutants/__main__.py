"""Mutation testing by sample: small mistakes, one at a time, in a copy of the package; do the normal tests notice?

python -m scripts.mutants --count 300 --json              mutants of the engine, control and the Spark runtime
python -m scripts.mutants --again --longest 300           who survived, with more tests: after a new one, or more time
python -m scripts.mutants --again --spark                 and with the nearest tests that need Spark

A mutant is killed if a test that runs its line fails, or if tests do not end: a loop for ever is noticed too. The tests
nearest to it run first, for --longest seconds of tests in all. The first run finds out which tests run which lines. The
folder holds the copy, the sample and the verdicts; a run that is ended goes on where it was.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scripts.mutants.copied import begin_with_the_copy
from scripts.mutants.sample import Mutant, sample

ROOT = Path(__file__).parents[2]
TESTS = ("unit", "scenarios", "formats", "plans", "recovery", "simulation", "time", "properties", "language")
LEFT_OUT = ("unit/benchmarks", "unit/experiments", "unit/dashboard")  # whole programs, which others reach in less time


def main() -> int:
    asked = _arguments()
    folder: Path = asked.folder.resolve()
    begin_with_the_copy(ROOT, folder)
    from scripts.mutants.server import Server  # loads the package: only now is it the copy

    mutants = _sampled(folder, asked.count, asked.seed)
    verdicts = _verdicts(folder)
    undone = [m for m in mutants if m.name not in verdicts]
    survivors = [m for m in mutants if verdicts.get(m.name, {}).get("verdict") == "survived"]
    todo = [m for m in (survivors if asked.again else undone) if any(each in m.name for each in asked.only)]
    if todo:
        server = Server(folder, todo, asked.longest, asked.spark, asked.pause)
        options = ["-q", "-s", "-p", "no:cacheprovider", f"--basetemp={folder}/tmp"]
        folders = (*TESTS, "spark") if asked.spark else TESTS
        options += [f"--ignore=tests/{each}" for each in LEFT_OUT]
        pytest.main([*options, *(asked.tests or (f"tests/{each}" for each in folders))], plugins=[server])
    print(json.dumps(report(mutants, _verdicts(folder)), indent=None if asked.json else 2))
    return 0


def report(mutants: list[Mutant], verdicts: dict[str, Any]) -> dict[str, Any]:
    """Counts, and who survived; a timeout is a kill."""
    done = [(m, verdicts[m.name]) for m in mutants if m.name in verdicts]
    survivors = [asdict(m) | {"tests": v["tests"], "of": v["of"]} for m, v in done if v["verdict"] == "survived"]
    killed = len(done) - len(survivors)
    timeouts = sum(v["verdict"] == "timeout" for _, v in done)
    counts = {"sampled": len(mutants), "mutants": len(done), "killed": killed, "survived": len(survivors)}
    return counts | {"timeouts": timeouts, "share": round(killed / max(len(done), 1), 4), "survivors": survivors}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description="Mutation testing by sample.")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants", help="of this run")
    parser.add_argument("--longest", type=float, default=30, help="seconds of tests for one mutant")
    parser.add_argument("--again", action="store_true", help="try those that survived")
    parser.add_argument("--spark", action="store_true", help="with tests that need Spark")
    parser.add_argument("--only", nargs="*", default=[""], help="mutants with one of these in their name")
    parser.add_argument("--tests", nargs="*", help="files or folders of tests, instead of all that there are")
    parser.add_argument("--pause", type=Path, help="wait while this file is there")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _sampled(folder: Path, count: int, seed: int) -> list[Mutant]:
    """The sample of this folder, drawn once."""
    file = folder / f"sample-{count}-{seed}.json"
    if not file.exists():
        file.write_text(json.dumps([asdict(mutant) for mutant in sample(folder / "src", count, seed)], indent=1))
    return [Mutant(**each) for each in json.loads(file.read_text())]


def _verdicts(folder: Path) -> dict[str, Any]:
    """The last verdict of each mutant."""
    file = folder / "verdicts.jsonl"
    lines: Iterable[str] = file.read_text().splitlines() if file.exists() else ()
    return {verdict["name"]: verdict for verdict in map(json.loads, lines)}


if __name__ == "__main__":
    sys.exit(main())
