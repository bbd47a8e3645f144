"""A pipeline as a process of its own: Parquet folders in, a Parquet folder out, from its checkpoint if it has one.

python -m tests.recovery.kill.job FOLDER MASTER OPTIONS, where OPTIONS is JSON for ``dovetail.join``; with "own"
Dovetail reads and writes the files itself
"""

import json
import sys
from pathlib import Path
from typing import Any

import dovetail as dv
from dovetail.runtime.spark.session import spark_session
from dovetail.runtime.spark.types import spark_schema
from tests.spark.queries import SCHEMA, build


def main() -> None:
    """Run everything there is to read, then end."""
    path, master, options = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    session = spark_session(cores=2, name="job", settings={"spark.master": master})
    if options.pop("own", False):
        files: dict[str, Any] = {name: dv.files(path / name, max_files=1) for name in "AB"}
        query = build("A.k = B.k", files, partitions=3, **options)
        sink, trigger = dv.parquet(path / "out"), {"availableNow": True}
        query.write(sink, str(path / "checkpoint"), trigger=trigger, session=session).awaitTermination()
        session.stop()
        return
    reader = session.readStream.option("maxFilesPerTrigger", 1).schema(spark_schema(SCHEMA))
    frames: dict[str, Any] = {name: reader.parquet(str(path / name)) for name in "AB"}
    writer = build("A.k = B.k", frames, partitions=3, **options).spark().writeStream.format("parquet")
    writer = writer.option("path", str(path / "out")).option("checkpointLocation", str(path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    session.stop()


if __name__ == "__main__":
    main()
