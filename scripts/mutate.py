"""Mutation testing by sample: small mistakes, one at a time, in a copy of the source; do the normal tests notice?

python -m scripts.mutate --count 300 --json        so many mutants of the engine, control and the Spark runtime
python -m scripts.mutate --count 5 --seed 7 --tests tests/unit tests/properties
python -m scripts.mutate --count 300 --longest 300 --sound      tests of five minutes at most each, known to pass

A mutant is killed if a test fails; the tests nearest to the mistake run first, so most die within seconds. Who outlives
the tests, or those that there is time for, is listed with its place. The tests must pass without a mistake first:
otherwise every mutant would seem to be killed. A run that is ended early still reports the mutants it has tried.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic

FOLDERS = ("engine", "control", "runtime/spark")
TESTS = ("tests/scenarios", "tests/unit", "tests/recovery", "tests/simulation", "tests/formats", "tests/properties")
LEFT_OUT = "not spark and not slow and not kafka and not cluster and not lakes"
_NEAREST = 8  # test files that are tried first, in a process of their own: collecting all takes longer than they do
_NO_TESTS = 5  # the exit code of pytest where all tests of some files are left out
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """A mistake: the file, the line, and what became of it."""

    path: str
    line: int
    change: str
    killed: bool


def main() -> int:
    asked = _arguments()
    dice = random.Random(asked.seed)
    root = Path(__file__).parents[1]
    files = sorted(f for folder in FOLDERS for f in (root / "src/dovetail" / folder).rglob("*.py"))
    places = [(file, number) for file in files for number in range(len(list(_places(ast.parse(file.read_text())))))]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tests = [test for each in asked.tests for test in sorted((root / each).rglob("test_*.py"))]
    copy = _copied(root)
    if not asked.sound and not _pass(root, copy, tests, monotonic() + 3600):
        print("the tests fail without any mistake; repair that first", file=sys.stderr)
        return 1
    mutants: list[Mutant] = []
    try:
        for file, number in dice.sample(places, min(asked.count, len(places))):
            mutants.append(_tried(root, copy, file, number, tests, asked.longest))
            print(mutants[-1], file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"ended after {len(mutants)} mutants", file=sys.stderr)
    survivors = [asdict(mutant) for mutant in mutants if not mutant.killed]
    told = {"mutants": len(mutants), "killed": len(mutants) - len(survivors), "survivors": survivors}
    print(json.dumps(told, indent=None if asked.json else 2))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mutation testing by sample.")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="*", default=list(TESTS))
    parser.add_argument("--longest", type=float, default=1800, help="seconds of tests for one mutant")
    parser.add_argument("--sound", action="store_true", help="the tests are known to pass without a mistake")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _places(tree: ast.AST) -> Iterator[ast.AST]:
    """Where a mistake can be made, in the order of the tree; annotations and docstrings are none."""
    for node in ast.walk(tree):
        compares = isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS
        reckons = isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC
        if compares or reckons or isinstance(node, ast.BoolOp | ast.IfExp):
            yield node


def _mutated(source: str, number: int) -> tuple[str, int, str]:
    """The source with one mistake, its line, and the change in words."""
    tree = ast.parse(source)
    node = list(_places(tree))[number]
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _ARITHMETIC[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    line = int(getattr(node, "lineno", 0))
    return ast.unparse(ast.fix_missing_locations(tree)), line, f"{before} -> {ast.unparse(node)}"


def _copied(root: Path) -> Path:
    """A copy of the package that stays, so that kernels are compiled once and not for every mutant."""
    copy = root / "build" / "mutants"
    shutil.copytree(root / "src", copy / "src", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _tried(root: Path, copy: Path, file: Path, number: int, tests: list[Path], longest_s: float) -> Mutant:
    """One mutant, in a copy of the package that the tests find first."""
    source, line, change = _mutated(file.read_text(), number)
    place = file.relative_to(root)
    (copy / place).write_text(source)
    ends, ordered = monotonic() + longest_s, _nearest_first(place, tests)
    try:
        lives = all(_pass(root, copy, some, ends) for some in (ordered[:_NEAREST], ordered[_NEAREST:]))
    finally:
        shutil.copy2(file, copy / place)
    return Mutant(str(place), line, change, not lives)


def _nearest_first(place: Path, tests: list[Path]) -> list[Path]:
    """Tests that import the module, then those that share most words with its path, then the others as they are."""
    module = ".".join(place.with_suffix("").parts[1:])
    words = set(re.findall("[a-z]+", str(place.with_suffix("")))) - {"src", "dovetail"}

    def distance(test: Path) -> tuple[bool, int]:
        shared = words & set(re.findall("[a-z]+", str(test)))
        return module not in test.read_text(), -len(shared)

    return sorted(tests, key=distance)


def _pass(root: Path, source: Path, tests: list[Path], ends: float) -> bool:
    """Whether no test fails, over the package in a folder, as far as there is time."""
    if not tests or ends <= monotonic():
        return True
    paths = {"PYTHONPATH": f"{source}/src:{root}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", LEFT_OUT, *map(str, tests)]
    try:
        left = ends - monotonic()
        done = subprocess.run(command, cwd=root, env=os.environ | paths, capture_output=True, timeout=left)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode in (0, _NO_TESTS)


if __name__ == "__main__":
    sys.exit(main())
