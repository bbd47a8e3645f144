"""The pipeline files in examples and on pages are good, and the page shows the example as it is."""

from pathlib import Path

import pytest

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
