"""A query on Spark whose checkpoint is kept as a file, and the rows that came before and after it was written.

python -m tests.formats.checkpoints FILE      writes a checkpoint with the code as it is, packed as FILE
"""

import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import dovetail as dv
from tests.formats.queries import BEFORE, pushes

TYPES = "ts timestamp, k bigint, s string"


def tables(seconds: tuple[int, int]) -> dict[str, pa.Table]:
    """All rows of some seconds, by stream, with times as Spark has them."""
    schema = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64(), "s": pa.string()})
    found: dict[str, list[pa.Table]] = {"A": [], "B": []}
    for name, rows in pushes("AB", *seconds):
        found[name].append(rows.cast(schema))
    return {name: pa.concat_tables(rows) for name, rows in found.items()}


def write(folder: Path, seconds: tuple[int, int]) -> None:
    """One file per stream."""
    for name, rows in tables(seconds).items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, folder / name / f"{seconds[0]}.parquet")


def joined(streams: dict[str, Any]) -> dv.Query:
    """Unmatched rows and held ones: a state with something in every section; ``streams`` by name, data or schema."""
    made = [dv.stream(name, time="ts", window="8 seconds", delay="2 seconds", **how) for name, how in streams.items()]
    return dv.join(*made, on="A.k = B.k", select="A.k, A.s AS a, B.s AS b", how="full", order="hold")


def run(spark: Any, folder: Path, checkpoint: Path, results: Path) -> None:
    """Join what is there, from this checkpoint on."""
    frames = {name: {"data": spark.readStream.schema(TYPES).parquet(str(folder / name))} for name in "AB"}
    writing = joined(frames).spark().writeStream.format("parquet").option("path", str(results))
    started = writing.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    started.awaitTermination()


def main(packed: Path) -> None:
    from dovetail.runtime.spark.session import spark_session

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder / "in", BEFORE)
        spark = spark_session(2)
        run(spark, folder / "in", folder / "checkpoint", folder / "out")
        spark.stop()
        with tarfile.open(packed, "w:gz") as file:
            file.add(folder / "checkpoint", "checkpoint")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
