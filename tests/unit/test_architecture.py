"""The house rules that a program can check: the layers, the size of files, and names that say nothing."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

Node = TypeVar("Node", bound=ast.AST)
ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "src" / "dovetail").rglob("*.py"))
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "base"}


def test_layers_import_only_downwards() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_no_import_is_excused() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert not [contract["name"] for contract in contracts if "ignore_imports" in contract]


def test_every_file_is_one_idea() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in FILES if (lines := len(path.read_text().splitlines())) > 400}
    assert not long, "above 400 lines: split by idea"


def test_names_say_what_is_inside() -> None:
    assert not [path for path in FILES if SAYS_NOTHING.intersection([*path.relative_to(ROOT).parts, path.stem])]


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX"])
def test_nothing_is_left_for_later(word: str) -> None:
    assert not [path for path in FILES if word in path.read_text()]


def test_no_class_holds_too_much() -> None:
    large = {name: len(found) for name, found in attributes() if len(found) > 15}
    assert not large, "more than 15 attributes"


def attributes() -> Iterator[tuple[str, set[str]]]:
    """Of every class, what is assigned to ``self``, and the fields of a dataclass."""
    for path, node in nodes(ast.ClassDef):
        stored = {
            each.attr
            for each in ast.walk(node)
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and ast.unparse(each.value) == "self"
        }
        if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
            stored |= {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
        yield f"{path} {node.name}", stored


def test_no_function_is_told_too_much() -> None:
    """At most 8 parameters; kernels take arrays one by one, and `join` and `stream` are what users write."""
    long = set()
    for path, node in nodes(ast.FunctionDef):
        given = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if len(set(given) - {"self", "cls"}) > 8 and not path.startswith("engine/kernels/"):
            long.add(node.name)
    assert long <= {"join", "stream"}


def nodes(kind: type[Node]) -> Iterator[tuple[str, Node]]:
    """All of a kind, with the file that they are in."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, kind):
                yield path.relative_to(ROOT / "src" / "dovetail").as_posix(), node


def test_every_number_says_why() -> None:
    """A constant that is a number, or some numbers, has a comment on its line or above it."""
    silent = [
        f"{path.relative_to(ROOT)}:{line}" for path in FILES for line in _numbers_without_reason(path.read_text())
    ]
    assert silent == []


def _numbers_without_reason(text: str) -> Iterator[int]:
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.BinOp | ast.UnaryOp | ast.Tuple):
            numbers = [each for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            others = [each for each in ast.walk(node.value) if isinstance(each, ast.Call | ast.Attribute)]
            said = "#" in "".join(lines[node.lineno - 2 : node.end_lineno])
            if not said and not others and any(type(each.value) in (int, float) for each in numbers):
                yield node.lineno


def test_the_test_of_numbers_finds_one() -> None:
    assert list(_numbers_without_reason("A = 3\nB = 4  # two pairs\nC = 'text'\n")) == [1]
