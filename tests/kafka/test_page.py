"""The page on Kafka does what it says, with a broker and a session that has the connector."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks, run_block


@pytest.mark.kafka
def test_the_page_prints_what_it_shows(kafka_spark: Any, address: str, tmp_path: Any, monkeypatch: Any) -> None:
    page = ROOT / "docs" / "how-to" / "kafka.md"
    where_java_runs = Path.cwd()
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__", "spark": kafka_spark, "address": address}
    for block in blocks(page):
        if block.language == "python":
            printed = run_block(block, page, namespace)
            assert printed.rstrip() == (block.prints or "").rstrip(), f"kafka.md, line {block.line}"
    shutil.rmtree(where_java_runs / "checkpoint")
