"""The page on lakes does what it says, in a session with the connectors."""

from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks, run_block
from tests.lakes.session import DELTA, ICEBERG


@pytest.mark.lakes
@pytest.mark.skipif(not DELTA, reason="there is no Delta connector for this version of Spark")
def test_the_page_prints_what_it_shows(lake_spark: Any, tmp_path: Path) -> None:
    """All of it, or what comes before Iceberg where that has no connector."""
    page = ROOT / "docs" / "how-to" / "lakes.md"
    iceberg = page.read_text().splitlines().index("## Iceberg") + 1
    namespace = {"__name__": "__main__", "spark": lake_spark, "here": str(tmp_path)}
    ran = [block for block in blocks(page) if block.language == "python" and (ICEBERG or block.line < iceberg)]
    assert len(ran) == 3 + ICEBERG
    for block in ran:
        printed = run_block(block, page, namespace)
        assert printed.rstrip() == (block.prints or "").rstrip(), f"lakes.md, line {block.line}"
