"""The examples run, print what their last lines say, and stay short."""

import runpy
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, marks, needs_spark

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize(
    "example", [pytest.param(path, marks=marks(path.read_text()), id=path.stem) for path in EXAMPLES]
)
def test_example_prints_what_it_shows(
    example: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    text = example.read_text()
    if needs_spark(text):
        request.getfixturevalue("spark")
    runpy.run_path(str(example), run_name="__main__")
    _, _, shown = text.partition("\n# Prints:\n")
    assert capsys.readouterr().out.splitlines() == [line.removeprefix("# ") for line in shown.splitlines()]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").rglob("*.py")), ids=lambda path: path.stem)
def test_example_is_short(example: Path) -> None:
    assert len(example.read_text().splitlines()) < 60
