"""Importing dovetail is quick and loads none of the libraries that only some users need."""

import json
import subprocess
import sys

EXTRAS = {"pyspark", "pandas", "polars", "duckdb", "matplotlib", "typer", "rich", "sqlglot"}
PROGRAM = """
import json, sys, time
start = time.perf_counter()
import dovetail
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "modules": sorted({name.partition(".")[0] for name in sys.modules})}))
"""


def test_import_loads_no_extras() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    print(f"import dovetail took {report['seconds']:.2f} s")
    assert EXTRAS.isdisjoint(report["modules"]), EXTRAS.intersection(report["modules"])
