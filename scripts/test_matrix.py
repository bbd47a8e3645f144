"""The Spark tests on every version of Spark that users have, with the oldest and the newest packages that go with it.

    .venv-matrix/4.0-lowest/          its own environment; Python 3.11, every lower bound of pyproject.toml
                 4.0-lowest/run.json  what the last run of it has shown
                 4.0-newest/          the newest Python and packages that can be had
                 4.0-databricks/      what a platform ships, and nothing of it replaced

    python -m scripts.test_matrix [--only 4.0-lowest ...] [--whole] [--bench] [--lakes]

Each environment gets its packages by installing this project, so that its bounds are tried as well. docs/versions.md is
written from the runs that are there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from packaging.requirements import Requirement
from packaging.version import Version

from scripts.matrix_page import write_page

ROOT = Path(__file__).parents[1]
HOME = ROOT / ".venv-matrix"
SPARKS = ("4.0", "4.1", "4.2", "4.3")
# What Databricks publishes for its runtime 17.3 LTS, as far as it meets what Dovetail needs; the Spark in it is 4.0.0
# with changes of its own, which cannot be had.
PLATFORMS = {
    "4.0-databricks": (
        "pyspark==4.0.0 pyarrow==19.0.1 pandas==2.2.3 numpy==2.1.3 protobuf==5.29.4 grpcio==1.67.0 "
        "grpcio-status==1.67.0 googleapis-common-protos==1.65.0 click==8.1.7 rich==13.9.4 markdown-it-py==2.2.0 "
        "pygments==2.15.1 typing-extensions==4.12.2 packaging==24.2 psutil==5.9.0 pytest==8.3.5 pluggy==1.5.0"
    ).split()
}
NAMES = (*(f"{spark}-{packages}" for spark in SPARKS for packages in ("lowest", "newest")), *PLATFORMS)
PYTHONS = ("python3.11", "python3.12", "python3.13")
TOOLS = "pytest hypothesis markdown-it-py duckdb polars psutil pyyaml deltalake pyiceberg[sql-sqlite]".split()
SHOWN = ("pyspark", "pyarrow", "numpy", "numba", "pandas", "protobuf", "grpcio", "sqlglot")
EMBEDDED = ("tests/scenarios",)
JOINS = "tests/spark/test_join.py::test_"
# Every way through Spark once, in about five minutes: tables as a session's first action, streams, a restart, a table
# beside streams, state of an older format, spilled state, Dovetail's own reading and writing (the interface of Python
# sources and sinks is what differs most between versions), a declarative pipeline, Spark Connect.
CHOSEN = (
    "tests/docs/test_pages.py::test_python_blocks_print_what_they_show[README.md]",
    "tests/spark/test_first_action.py",
    "tests/spark/test_session.py::test_files_of_a_checkpoint_are_renamed_by_a_class_that_spark_has",
    f"{JOINS}rows_are_the_oracles[chain of keys-5]",
    f"{JOINS}a_killed_and_a_restarted_run_go_on_where_they_were",
    f"{JOINS}a_static_input_is_a_stream_that_has_already_ended",
    "tests/spark/test_checkpoint_formats.py",
    "tests/spark/test_spill.py",
    "tests/spark/test_native_source.py",
    "tests/spark/test_native_sink.py",
    "tests/spark/test_declarative.py",
    "tests/spark/test_connect.py",
)
CHOSEN_MARKS = "not kafka and not cluster"  # slow tests among the chosen are meant
LAKES = ("tests/lakes", "-m", "lakes")
EQUAL = {"results_equal": True}  # what counts for a run without the benchmark
WHOLE = ("tests/formats", "tests/spark", "tests/recovery")


def main() -> int:
    """Run the environments that are asked for, one after the other; 1 if any test failed."""
    parser = argparse.ArgumentParser(prog="test_matrix", description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="these environments")
    parser.add_argument("--whole", action="store_true", help="all of the tests of Spark and of recovery")
    parser.add_argument("--bench", action="store_true", help="benchmarks equi --quick as well")
    parser.add_argument("--lakes", action="store_true", help="only the tests of lakes; their jars are in $LAKE_JARS")
    asked = parser.parse_args()
    if asked.lakes:
        return int(any(_tested(name, _environment(name), "lakes", LAKES)["failed"] for name in asked.only))
    runs = [_run(name, WHOLE if asked.whole else CHOSEN, asked.bench) for name in asked.only]
    write_page(ROOT / "docs/versions.md", [_last(name) for name in NAMES if (HOME / name / "run.json").exists()], NAMES)
    return int(any(run["failed"] or not run.get("bench", EQUAL)["results_equal"] for run in runs))


def _last(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HOME / name / "run.json").read_text())
    return found


def _run(name: str, on_spark: tuple[str, ...], bench: bool) -> dict[str, Any]:
    python = _environment(name)
    parts = [_tested(name, python, part, tests) for part, tests in (("embedded", EMBEDDED), ("spark", on_spark))]
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()
    about = {"name": name, "date": datetime.now(UTC).date().isoformat(), "commit": commit}
    run = {**about, "whole": on_spark is WHOLE, "packages": _packages(python), **_together(parts)}
    if bench:
        run["bench"] = _bench(name, python)
    (HOME / name / "run.json").write_text(json.dumps(run, indent=1))
    return run


def _tested(name: str, python: str, part: str, tests: tuple[str, ...]) -> dict[str, Any]:
    found = HOME / name / f"{part}.xml"
    found.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={found}", *tests]
    command += ["-m", CHOSEN_MARKS] if tests is CHOSEN else []
    subprocess.run(command, cwd=ROOT, env=_variables(name), check=False)
    return _counts(found)


def _environment(name: str) -> str:
    """The Python of an environment, which is made anew if what it must have has changed."""
    spark, packages = name.split("-")
    there = [python for python in PYTHONS if _works(python)]
    if not there:
        raise SystemExit(f"test_matrix: none of {', '.join(PYTHONS)} is on the PATH")
    place, python = HOME / name, str(HOME / name / "bin" / "python")
    wanted = "\n".join([*PLATFORMS.get(name, []), *_ours()])
    stamp = place / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"Making {place}.", flush=True)
    chosen = {"lowest": there[0], "newest": there[-1]}.get(packages, there[len(there) // 2])
    subprocess.run([chosen, "-m", "venv", "--clear", place], check=True)
    given = PLATFORMS.get(name, [f"pyspark=={spark}.*"])
    subprocess.run([*_installer(python), *given, *TOOLS], check=True)
    pins = [f"{package}=={low}" for package, low in _lowest(python).items()] if packages == "lowest" else given
    project = str(ROOT) if name in PLATFORMS else f"{ROOT}[spark]"
    subprocess.run([*_installer(python), project, *pins], check=True)
    stamp.write_text(wanted)
    return python


def _installer(python: str) -> list[str]:
    """By uv if it is there, which builds Spark's package once for all environments."""
    if shutil.which("uv"):
        return ["uv", "pip", "install", "--quiet", "--python", python]
    return [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _works(python: str) -> bool:
    return shutil.which(python) is not None and not subprocess.run([python, "-V"], capture_output=True).returncode


def _lowest(python: str) -> dict[str, Version]:
    """The lower bounds of this project, or those of the installed Spark where they are higher.

    Which protobuf goes with them is left to grpcio-status, each version of which takes one major of it.
    """
    asks = "from importlib.metadata import requires; print(*requires('pyspark'), sep='\\n')"
    theirs = subprocess.run([python, "-c", asks], capture_output=True, text=True, check=True).stdout.splitlines()
    bounds = {requirement.name: _bound(requirement) for requirement in map(Requirement, _ours())}
    for requirement in map(Requirement, theirs):
        if requirement.name in bounds:
            bounds[requirement.name] = max(bounds[requirement.name], _bound(requirement))
    return {package: bound for package, bound in bounds.items() if package not in ("pyspark", "protobuf")}


def _ours() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["spark"]]


def _bound(requirement: Requirement) -> Version:
    return Version(next(each.version for each in requirement.specifier if each.operator in (">=", "==")))


def _variables(name: str) -> dict[str, str]:
    """This code, whatever is installed; each version of Numba throws away another's kernels, so they are kept apart."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PATH": os.pathsep.join([str(HOME / name / "bin"), os.environ["PATH"]]),
        "NUMBA_CACHE_DIR": str(HOME / "kernels" / name.partition("-")[2]),
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }


def _packages(python: str) -> dict[str, str]:
    asks = (
        "import json, platform; from importlib.metadata import version; "
        f"print(json.dumps({{'python': platform.python_version(), **{{p: version(p) for p in {SHOWN}}}}}))"
    )
    said = subprocess.run([python, "-c", asks], capture_output=True, text=True, check=True).stdout
    packages: dict[str, str] = json.loads(said)
    return packages


def _counts(found: Path) -> dict[str, Any]:
    """From pytest's own report: how many tests, how long, and why some were skipped."""
    if not found.exists():
        return {"passed": 0, "failed": [f"pytest wrote no {found.name}"], "skipped": [], "seconds": 0}
    report = ElementTree.parse(found).getroot()
    cases = list(report.iter("testcase"))
    failed = [f"{case.get('classname')}::{case.get('name')}" for case in cases if _has(case, "failure", "error")]
    skipped = [_reason(skip) for case in cases if (skip := case.find("skipped")) is not None]
    seconds = sum(float(suite.get("time", 0)) for suite in report.iter("testsuite"))
    passed = len(cases) - len(failed) - len(skipped)
    return {"passed": passed, "failed": failed, "skipped": skipped, "seconds": round(seconds)}


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    sums = {key: sum(part[key] for part in parts) for key in ("passed", "seconds")}
    reasons = [reason for part in parts for reason in part["skipped"]]
    skipped = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
    return {**sums, "failed": [test for part in parts for test in part["failed"]], "skipped": skipped}


def _has(case: ElementTree.Element, *kinds: str) -> bool:
    return any(case.find(kind) is not None for kind in kinds)


def _reason(skip: ElementTree.Element) -> str:
    return (skip.get("message") or "").removeprefix("Skipped: ")


def _bench(name: str, python: str) -> dict[str, Any]:
    """How many times as fast as Spark's own join, which counts for nothing unless results were equal."""
    command = [python, "-m", "benchmarks", "equi", "--quick", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=_variables(name), stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    return {field: found.get(field) for field in ("results_equal", "vs_native", "vs_rocksdb")}


if __name__ == "__main__":
    sys.exit(main())
