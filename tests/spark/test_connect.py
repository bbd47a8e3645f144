"""The same pipeline through Spark Connect, in a process of its own: one process has either kind of session."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from dovetail.runtime.spark.differences.version import spark_version

SCRIPT = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from dovetail.runtime.spark.metrics import spark_metrics
from dovetail.testing import assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import build

spark = SparkSession.builder.remote("local[2]").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "2")
spark.conf.set("spark.sql.session.timeZone", "UTC")
folder = Folder(spark, Path(sys.argv[1]), "AB")
batches = random_batches("AB", seed=8, batches=2)
folder.feed(batches)
query = build("A.k = B.k AND A.x > 0", folder.frames())
run = folder.run(query.spark())
rows = folder.rows(query)
assert_same_rows(rows, oracle(query.model, batches).rows)
assert sum(batch["results"] for batch in spark_metrics(run)) == rows.num_rows > 0
print("same rows")
"""


@pytest.mark.spark
def test_the_same_rows_through_spark_connect(tmp_path: Path) -> None:
    for package in ("grpc", "grpc_status", *(["zstandard"] if spark_version(pyspark.__version__) >= (4, 1) else [])):
        pytest.importorskip(package, reason=f"Spark Connect needs {package}")
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]),
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    if spark_version(pyspark.__version__) < (4, 1):
        assert "PlanError: Spark 4.0" in done.stderr, done.stderr[-3000:]
        assert "has no stateful operators through Spark Connect; take a classic session, or" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    assert "same rows" in done.stdout
