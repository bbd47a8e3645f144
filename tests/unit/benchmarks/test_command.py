import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import NAMES
from benchmarks.report import Report, show

ROOT = Path(__file__).parents[3]


def run(*words: str) -> list[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_lists_what_there_is() -> None:
    assert [line.split()[0] for line in run()] == list(NAMES)


def test_every_name_is_a_file() -> None:
    assert all((ROOT / "benchmarks" / f"{name.replace('-', '_')}.py").exists() for name in NAMES)


def test_json_is_the_last_line() -> None:
    lines = run("embedded", "--json", "--quick", "--rows", "10000")
    found = json.loads(lines[-1])
    assert found["results_equal"]
    assert set(found["workloads"]) == {"equi3", "band", "equi-wide"}
    assert {"rows", "results", "dovetail_rows_per_s", "duckdb_rows_per_s", "vs_duckdb"} <= set(found)


def test_speeds_are_hidden_where_results_differ(capsys: pytest.CaptureFixture[str]) -> None:
    fields: dict[str, Any] = {"results_equal": False, "rows": 3, "vs_duckdb": 7.5}
    show(Report("Title", ("name", "speed"), [("us", 7.5)], fields), as_json=True)
    printed = capsys.readouterr().out
    assert "results differ" in printed
    assert "7.5" not in printed
