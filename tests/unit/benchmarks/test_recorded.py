"""What is kept of a run, and the part of the page that is written from it."""

import json
from pathlib import Path

import pytest

from benchmarks import recorded, spark_page
from benchmarks.__main__ import remember


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(recorded, "FILE", tmp_path / "recorded.json")
    monkeypatch.setattr(spark_page, "PAGE", tmp_path / "page.md")
    (tmp_path / "page.md").write_text(f"before\n{spark_page.BEGIN}\nold\n{spark_page.END}\nafter\n")
    return tmp_path


def test_a_run_is_compared_with_the_recorded_one(kept: Path) -> None:
    assert "No run of equi is recorded" in recorded.said("equi", {"rows": 10})
    recorded.record("equi", {"rows": 10, "vs_native": 5.0, "dovetail_rows_per_s": 7}, {"cores": 2})
    assert recorded.said("equi", {"rows": 10, "vs_native": 5.2}) == "As the recorded run of equi."
    assert "vs_native: 4, was 5 (20 % worse)" in recorded.said("equi", {"rows": 10, "vs_native": 4.0})
    assert "not compared" in recorded.said("equi", {"rows": 20, "vs_native": 4.0})


def test_figures_with_a_unit_are_kept_beside_ratios(kept: Path) -> None:
    fields = {
        "rows": 10,
        "results": 3,
        "results_equal": True,
        "vs_spark": {1: 5.0},
        "dovetail_cold_s": 7,
        "curve_rows_per_s": {"10000": 30_000},
        "memory": {"java_mb": 900.5},
    }
    recorded.record("equi", fields, {"cores": 2})
    found = json.loads((kept / "recorded.json").read_text())["equi"]
    assert found["ratios"] == {"vs_spark.1": 5.0}
    assert found["figures"] == {"dovetail_cold_s": 7, "curve_rows_per_s.10000": 30_000, "memory.java_mb": 900.5}


def test_the_page_has_the_figures_that_are_recorded() -> None:
    page = spark_page.PAGE.read_text()
    assert spark_page.BEGIN in page
    assert page == spark_page.written(page)


def test_recording_writes_the_page(kept: Path) -> None:
    curve = {"10000": 30_000, "4000000": 2_000_000}
    remember("equi", {"rows": 1, "dovetail_rows_per_s": 2_345_678, "curve_rows_per_s": curve}, True)
    remember("equi3", {"rows": 1, "spark_native_rows_per_s": 51_086}, True)
    remember("latency", {"rows": 1, "dovetail_batch_s": 0.244, "dovetail_wait_s": 0.363}, True)
    remember("start", {"rows": 1, "spark_native_process_s": 13.7, "spark_native_warm_s": 1.22}, True)
    page = (kept / "page.md").read_text()
    for lines in (
        "|  | `equi`, rows per second | `equi3`, rows per second |\n|---|---|---|\n"
        "| Dovetail, files read and written by itself | 2,345,678 | - |\n"
        "| Spark's own join, state in memory | - | 51,086 |\n",
        "| rows in a batch | 10,000 | 4,000,000 |\n|---|---|---|\n| rows per second of `equi` | 30,000 | 2,000,000 |\n",
        "|  | a batch of 20,000 rows, s | arrival to result, s |\n|---|---|---|\n"
        "| Dovetail, files read and written by itself | 0.244 | 0.363 |\n",
        "|  | first result from the start of Python, s | warm, s |\n|---|---|---|\n"
        "| Spark's own join, state in memory | 13.7 | 1.22 |\n",
    ):
        assert lines in page
    assert page.startswith("before\n") and page.endswith("after\n") and "old" not in page  # noqa: PT018


def test_without_figures_the_page_says_so(kept: Path) -> None:
    remember("start", {"rows": 1}, True)
    assert "No figures are recorded yet." in (kept / "page.md").read_text()
