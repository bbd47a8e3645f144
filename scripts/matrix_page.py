"""docs/versions.md, from what the runs of the matrix have shown."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HEAD = """# Versions

Dovetail runs on Spark 4.0 to 4.3 and on Python 3.11 to 3.13, and takes the packages that a platform ships: lower bounds
are the lowest that are tested. `make test-matrix` makes an environment for each row of the table, runs the scenarios
without Spark and every way through Spark once in it, and writes this page; `--only 4.0-lowest` runs one of them,
`--whole` all of the tests of Spark. Seconds are those of whatever machine was at hand, often a busy one.

"""
COLUMNS = ("Spark", "packages", "Python", "passed", "failed", "skipped", "seconds", "date", "commit")


def write_page(path: Path, runs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """The matrix, the packages of each environment, and why tests were skipped; and which of the names have no run."""
    waiting = [name for name in names if name not in {run["name"] for run in runs}]
    missing = [f"\n\nNot run yet: {', '.join(waiting)}."] if waiting else []
    parts = [
        HEAD,
        _table(COLUMNS, map(_row, runs)),
        *missing,
        "\n\n## Packages\n\n",
        _packages(runs),
        _benchmarks(runs),
    ]
    failed = [f"- {run['name']}: `{test}`" for run in runs for test in run["failed"]]
    skipped = [f"- {run['name']}: {n} times, {why}" for run in runs for why, n in run["skipped"].items()]
    for title, lines in (("Failed", failed), ("Skipped", skipped)):
        parts += [f"\n\n## {title}\n\n", "\n".join(lines)] if lines else []
    path.write_text("".join(parts).rstrip() + "\n")


def _row(run: Mapping[str, Any]) -> list[object]:
    packages, name = run["packages"], run["name"].split("-")[1] + (", all tests" if run["whole"] else "")
    counts = [run["passed"], len(run["failed"]), sum(run["skipped"].values())]
    return [packages["pyspark"], name, packages["python"], *counts, run["seconds"], run["date"], run["commit"]]


def _packages(runs: Sequence[Mapping[str, Any]]) -> str:
    names = [name for name in (runs[0]["packages"] if runs else ()) if name not in ("python", "pyspark")]
    return _table(["environment", *names], [[run["name"], *(run["packages"][n] for n in names)] for run in runs])


def _benchmarks(runs: Sequence[Mapping[str, Any]]) -> str:
    found = [(run["name"], run["bench"]) for run in runs if "bench" in run]
    equal = {True: "yes", False: "no", None: "failed"}
    measured = [(name, equal[b["results_equal"]], b["vs_native"], b["vs_rocksdb"]) for name, b in found]
    if not measured:
        return ""
    told = "`benchmarks equi --quick`: are results those of Spark's own join, and how many times as fast is Dovetail? "
    told += "It is a small case, which shows that it works; [benchmarks.md](benchmarks.md) has the figures.\n\n"
    columns = ("environment", "results equal", "times Spark's join in memory", "times Spark's join with RocksDB")
    return "\n\n## Beside Spark's own join\n\n" + told + _table(columns, measured)


def _table(head: Sequence[str], rows: Any) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
