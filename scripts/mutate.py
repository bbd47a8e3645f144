"""Mutation testing by sample: small mistakes, one at a time, in a copy of the source; do the normal tests notice?

python -m scripts.mutate --count 300 --json        so many mutants of the engine, control and the Spark runtime
python -m scripts.mutate --count 5 --seed 7 --tests tests/unit tests/properties

A mutant is killed if the tests fail or take far too long; the others are listed with their place. The tests must pass
without a mistake first: otherwise every mutant would seem to be killed.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDERS = ("engine", "control", "runtime/spark")
TESTS = ("tests/scenarios", "tests/unit", "tests/recovery", "tests/simulation", "tests/formats", "tests/properties")
LEFT_OUT = "not spark and not slow and not kafka and not cluster and not lakes"
_LONGEST_S = 1800  # of all tests; who takes longer has made an endless loop
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
    if not _pass(root, root, asked.tests):
        print("the tests fail without any mistake; repair that first", file=sys.stderr)
        return 1
    mutants = [_tried(root, *place, asked.tests) for place in dice.sample(places, min(asked.count, len(places)))]
    survivors = [asdict(mutant) for mutant in mutants if not mutant.killed]
    told = {"mutants": len(mutants), "killed": len(mutants) - len(survivors), "survivors": survivors}
    print(json.dumps(told, indent=None if asked.json else 2))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mutation testing by sample.")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="*", default=list(TESTS))
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


def _tried(root: Path, file: Path, number: int, tests: list[str]) -> Mutant:
    """One mutant, in a copy of the package that the tests find first."""
    source, line, change = _mutated(file.read_text(), number)
    place = str(file.relative_to(root))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "src", Path(folder) / "src", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / place).write_text(source)
        killed = not _pass(root, Path(folder), tests)
    mutant = Mutant(place, line, change, killed)
    print(mutant, file=sys.stderr, flush=True)
    return mutant


def _pass(root: Path, source: Path, tests: list[str]) -> bool:
    """Whether the tests pass, and in time, over the package in a folder."""
    paths = {"PYTHONPATH": f"{source}/src:{root}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", LEFT_OUT, *tests]
    try:
        done = subprocess.run(command, cwd=root, env=os.environ | paths, capture_output=True, timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
