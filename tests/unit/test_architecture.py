"""The house rules that a program can check: the layers, the size of files, and names that say nothing."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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
