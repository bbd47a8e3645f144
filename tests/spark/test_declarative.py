"""The example of a declarative pipeline: an update takes all files there are, and its table has the join's rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

from dovetail.runtime.spark.differences.version import spark_version

EXAMPLE = Path(__file__).parents[2] / "examples" / "declarative"
COMMAND = Path(pyspark.__file__).parent / "bin" / "spark-pipelines"


def said(place: Path, kind: str, *rows: tuple[str, str, float]) -> None:
    folder = place / "readings" / kind
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"ts": f"2026-07-01T12:{at}Z", "room": room, "value": value}) for at, room, value in rows]
    (folder / f"{len(list(folder.iterdir()))}.json").write_text("\n".join(lines))


def update(place: Path) -> list[tuple[str, float, float]]:
    """Run the pipeline until it has taken all files, and read its table."""
    root = EXAMPLE.parents[1]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(root / "src"), os.environ.get("PYTHONPATH", "")]),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_HOME": str(COMMAND.parents[1]),
    }
    done = subprocess.run(
        [str(COMMAND), "run"], cwd=place, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    table = pq.read_table(place / "spark-warehouse" / "alarms")
    return sorted(zip(*(table[name].to_pylist() for name in ("room", "temperature", "humidity")), strict=True))


@pytest.mark.spark
@pytest.mark.slow  # Spark starts in a process of its own
@pytest.mark.skipif(spark_version(pyspark.__version__) < (4, 1), reason="declarative pipelines come with Spark 4.1")
def test_a_join_is_a_table_of_a_pipeline(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="declarative pipelines need PyYAML")
    for name in ("alarms.py", "spark-pipeline.yml"):
        text = (EXAMPLE / name).read_text()
        (tmp_path / name).write_text(text.replace("file:///var/tmp/rooms", (tmp_path / "storage").as_uri()))
    said(tmp_path, "temperature", ("00:10", "attic", 31.0), ("00:20", "cellar", 14.0))
    said(tmp_path, "humidity", ("00:40", "attic", 80.0), ("00:50", "cellar", 90.0))
    said(tmp_path, "humidity", ("01:05", "attic", 75.0), ("01:30", "attic", 99.0))
    assert update(tmp_path) == [("attic", 31.0, 75.0), ("attic", 31.0, 80.0)]
