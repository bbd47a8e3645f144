"""A join of tables as the very first thing that a session does, in a process of its own: later ones find it started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIRST = """
import pyarrow as pa
import dovetail as dv
from dovetail.runtime.spark.session import spark_session

spark = spark_session(1)
rows = pa.table({"ts": pa.array([1, 2], pa.timestamp("s", "UTC")), "k": [1, 1]})
a, b = (dv.stream(name, rows, time="ts", window="1 minute") for name in "AB")
print(dv.join(a, b, on="A.k = B.k", select="A.k").spark(spark).toArrow().num_rows)
spark.stop()
"""


@pytest.mark.spark
def test_a_join_of_tables_may_be_the_first_action_of_a_session() -> None:
    path = os.pathsep.join([str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr[-3000:]
