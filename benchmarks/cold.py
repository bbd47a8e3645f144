"""From the start of Python to the first result, embedded: the first time on a machine, and the second time.

    first     nothing is compiled yet: the cache of compiled loops is empty
    second    the same program once more
    small, large   the first push has 100 rows of each stream, or 200,000

The program is a process of its own that imports Dovetail, states a join, pushes two batches and prints how many results
there are; ``import`` is the import alone.
"""

import os
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

from benchmarks.report import Report
from benchmarks.settings import Settings

PROGRAM = """
import pyarrow as pa
import dovetail as dv
schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
run = dv.join(*(dv.stream(n, time="ts", window="1 second", schema=schema) for n in "AB"), on="A.k = B.k").local()
rows = pa.table({"ts": pa.array(range(ROWS)).cast(pa.timestamp("us")), "k": range(ROWS)}, schema)
run.push("A", rows)
print(run.push("B", rows).num_rows)
"""
IMPORT = "import dovetail; print(0)"
SIZES = {"small": 100, "large": 200_000}


def run(settings: Settings) -> Report:
    """The median of several machines that have never run it, each then started again."""
    times = settings.choose(5, 1)
    fields: dict[str, Any] = {"rows": max(SIZES.values()), "results_equal": True}
    for name, rows in SIZES.items():
        pairs = [_twice(PROGRAM.replace("ROWS", str(rows)), rows) for _ in range(times)]
        fields |= {f"{name}_first_s": round(median(a for a, _ in pairs), 2)}
        fields |= {f"{name}_second_s": round(median(b for _, b in pairs), 2)}
    fields["import_s"] = round(median(_twice(IMPORT, 0)[1] for _ in range(times)), 2)
    lines = [(name, fields[f"{name}_first_s"], fields[f"{name}_second_s"]) for name in SIZES]
    header = ("first push", "first start, s", "second start, s")
    return Report(f"Embedded, to the first result (import alone: {fields['import_s']} s)", header, lines, fields)


def _twice(program: str, results: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as cache:
        first, second = (_seconds(program, results, cache) for _ in range(2))
    return first, second


def _seconds(program: str, results: int, cache: str) -> float:
    began = time.perf_counter()
    said = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NUMBA_CACHE_DIR": cache, "XDG_CACHE_HOME": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert int(said) == results, said
    return time.perf_counter() - began
