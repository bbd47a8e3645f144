"""The pipeline files in examples and on pages are good, and the page shows the example as it is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.cli.pipeline_file import routed
from dovetail.sql import parse_pipeline

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples" / "pipelines").glob("*.sql"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_example_pipelines_bind(path: Path) -> None:
    assert routed(parse_pipeline(path.read_text()))


def test_the_page_shows_the_example() -> None:
    page = (ROOT / "docs" / "how-to" / "run-a-pipeline-file.md").read_text()
    assert f"```text\n{(ROOT / 'examples' / 'pipelines' / 'hot_and_wet.sql').read_text()}```" in page


def test_the_page_shows_what_explain_says_of_the_example() -> None:
    page = (ROOT / "docs" / "how-to" / "run-a-pipeline-file.md").read_text()
    shown = page.partition("each followed by its plan:\n\n```text\n")[2].partition("```")[0].splitlines()
    said = CliRunner().invoke(app, ["explain", str(ROOT / "examples" / "pipelines" / "hot_and_wet.sql")]).output
    assert shown
    assert [line for line in said.splitlines() if line in shown] == shown
