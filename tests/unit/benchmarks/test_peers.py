"""What each peer is told, and that a peer which is not there is said to be absent."""

import doctest
import json
from pathlib import Path
from typing import Any

import pyarrow.csv as csv
import pytest

from benchmarks import memory, peers, peers_page, recorded, report
from benchmarks.checksum import Sum
from benchmarks.peer_environment import AbsentError, Environment
from benchmarks.peer_flink import flink_task
from benchmarks.peer_pathway import pathway_task
from benchmarks.peer_runs import Finding, Inputs, dovetail_embedded, duckdb_offline, write_plain
from benchmarks.peers import PEERS, TASKS, attempt, ratios
from benchmarks.workloads import equi, equi3, left


@pytest.mark.parametrize("module", [memory, peers, recorded, report])
def test_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # modules, by the list above


@pytest.mark.parametrize("name", TASKS)
def test_dovetail_and_duckdb_count_the_same(name: str) -> None:
    with Inputs.of(TASKS[name].make(6_000)) as given:
        assert given.expected.rows > 0
        for peer in (dovetail_embedded, duckdb_offline):
            assert peer(given).sum == given.expected


def test_a_peer_that_is_not_there_is_absent() -> None:
    def missing(_: Inputs) -> Finding:
        raise AbsentError("no such package\nand more")

    with Inputs.of(equi(1_000, "UTC")) as given:
        assert attempt("nobody", missing, given).fields() == {"rows": 2_000, "why": "absent: no such package"}


def test_one_workload_on_those_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Inputs) -> Finding:
        raise AbsentError("no such package")

    here = {"dovetail_embedded": dovetail_embedded, "duckdb_offline": duckdb_offline, "pathway": missing}
    monkeypatch.setattr(peers, "PEERS", here)
    found = peers.compare("band", 30_000)
    assert found["results_equal"]
    assert found["embedded_vs_duckdb"] > 0
    assert found["peers"]["pathway"] == {"rows": 6_000, "why": "absent: no such package"}


def test_an_environment_that_cannot_be_made_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    nobody = Environment("dovetail-no-such-package", "0")
    (nobody.folder / "bin").mkdir(parents=True)
    (nobody.folder / "installed").touch()
    with pytest.raises(AbsentError, match="No such file"):
        nobody.run("flink_job.py", {})


def test_flink_is_told_the_window_of_every_pair() -> None:
    task = flink_task(equi3(10), Path("/rows"), rocksdb=True)
    assert task["settings"]["state.backend.type"] == "rocksdb"
    assert "JOIN C ON B.k = C.k AND C.ts BETWEEN A.ts - INTERVAL '10.001' SECOND" in task["join"]
    assert "C.us - A.us BETWEEN -10000000 AND 10000000 AND C.us - B.us BETWEEN" in task["join"]
    assert task["join"].count("B.k = C.k") == 1, "said where both are known"
    assert task["tables"][0].startswith("CREATE TABLE A (us BIGINT, k BIGINT, v DOUBLE, ts AS")
    assert "LEFT JOIN B" in flink_task(left(10), Path("/rows"), rocksdb=False)["join"]


def test_pathway_is_told_columns_and_paths() -> None:
    task = pathway_task(equi(10), Path("/rows"))
    assert task["tables"]["B"] == {"path": "/rows/B", "columns": {"us": "int", "k": "int", "v": "float"}}
    assert json.loads(json.dumps(task))["keyed"]


def test_plain_files_hold_all_rows_in_turns(tmp_path: Path) -> None:
    workload = equi(11)
    write_plain(workload, tmp_path)
    parts = [csv.read_csv(tmp_path / "headed" / "A" / f"{part}.csv") for part in range(2)]
    assert [part.num_rows for part in parts] == [6, 5]
    assert parts[1]["v"].to_pylist() == workload.tables["A"]["v"].to_pylist()[1::2]


def test_ratios_are_of_those_that_ran() -> None:
    findings = {
        "dovetail_spark": Finding(1, 300.0, Sum()),
        "flink_heap": Finding(1, 100.0, Sum()),
        "pathway": Finding(1),
    }
    assert ratios(findings) == {"vs_flink_heap": 3.0}


def test_the_page_is_written_from_the_recorded_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert peers_page.PAGE.read_text() == peers_page.written(peers_page.PAGE.read_text())
    cell: dict[str, Any] = {"rows": 5, "rows_per_s": 12_345, "sum": [1, 1]}
    found: dict[str, Any] = {task: {"results": 9, "peers": dict.fromkeys(PEERS, cell)} for task in TASKS}
    found["band"]["peers"] = {**found["band"]["peers"], "pathway": {"rows": 5, "why": "refused: no band"}}
    fields = {"workloads": found, "peer_versions": {"apache-flink": "2", "pathway": "0"}}
    for name, path in {"KEPT": "peers.json", "PAGE": "page.md", "PICTURE": "docs/peers.svg"}.items():
        monkeypatch.setattr(peers_page, name, tmp_path / path)
    (tmp_path / "page.md").write_text(f"before\n{peers_page.BEGIN}\nold\n{peers_page.END}\nafter\n")
    peers_page.keep(fields, {"cores": 2, "pyspark": "4", "duckdb": "2", "python": "3"})
    page = (tmp_path / "page.md").read_text()
    assert "| Pathway | 12,345 | 12,345 | refused | 12,345 |" in page
    assert "- Pathway, `band`: refused: no band" in page
    assert page.startswith("before\n") and page.endswith("after\n") and "old" not in page  # noqa: PT018
    assert (tmp_path / "docs" / "peers.svg").exists()
