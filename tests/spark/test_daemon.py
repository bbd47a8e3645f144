"""The parent of workers imports what they need and can still be forked; each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dovetail.runtime.spark.session import NO_THREADS

WARM = """
import gc, os
from dovetail.runtime.spark import daemon
print(daemon.warm(), daemon.threads(), len(gc.get_objects()))
child = os.fork()
if child == 0:
    import numpy, pyarrow.compute
    numpy.ones((300, 300)) @ numpy.ones((300, 300))
    pyarrow.compute.sum(pyarrow.table({"x": range(100_000)})["x"])
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is imported before the fork")
@pytest.mark.parametrize(("threads", "warm"), [("1", True), ("2", os.cpu_count() == 1)])
def test_no_thread_is_alive_where_workers_are_forked(threads: str, warm: bool) -> None:
    """As Spark sets it, one; with those that somebody asked for it says so."""
    unset = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    given = unset | NO_THREADS | {"OMP_NUM_THREADS": threads}
    ran = subprocess.run(
        [sys.executable, "-c", WARM], env=given, capture_output=True, text=True, check=True, timeout=60
    )
    found, alive, objects, ended = ran.stdout.split()
    assert found == str(warm)
    assert (alive == "1") is warm
    assert int(objects) < 10_000, "what was imported is not looked at"
    assert ended == "0"


def test_workers_of_a_session_are_warm(spark: Any) -> None:
    def look(batches: Any) -> Any:
        list(batches)
        parent = Path(f"/proc/{os.getppid()}/cmdline").read_text()
        warm = "dovetail.runtime.spark.operator" in sys.modules
        yield pa.RecordBatch.from_pydict({"parent": [parent], "warm": [warm]})

    (row,) = spark.range(1, numPartitions=1).mapInArrow(look, "parent string, warm boolean").collect()
    assert "dovetail.runtime.spark.fork_server" in row.parent, "itself a fork"
    assert row.warm
