"""A pipeline as a process of its own: Parquet folders in, a Parquet folder out, from its checkpoint if it has one.

python -m tests.recovery.kill.job FOLDER MASTER OPTIONS, where OPTIONS is JSON for ``dovetail.join``; with "own"
Dovetail reads and writes the files itself; with "then" its checkpoint is first made into one of so many partitions
"""

import json
import sys
from pathlib import Path
from typing import Any

import dovetail as dv
from dovetail.runtime.spark.session import spark_session
from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS
from dovetail.runtime.spark.types import spark_schema
from tests.spark.queries import SCHEMA, build


def main() -> None:
    """Run everything there is to read, then end."""
    path, master, options = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    then, own = options.pop("then", None), options.pop("own", False)
    settings = {"spark.master": master} | ({} if then is None else {SHUFFLE_PARTITIONS: str(then)})
    session = spark_session(cores=2, name="job", settings=settings)
    reader = session.readStream.option("maxFilesPerTrigger", 1).schema(spark_schema(SCHEMA))
    data: dict[str, Any] = {
        name: dv.files(path / name, max_files=1) if own else reader.parquet(str(path / name)) for name in "AB"
    }
    first = build("A.k = B.k", data, partitions=3, **options)
    query, checkpoint = first, path / "checkpoint"
    if then is not None:
        query, checkpoint = first.replace(partitions=then), path / f"checkpoint_{then}"
        if not checkpoint.exists():
            query.migrate(str(path / "checkpoint"), str(checkpoint), of=first, session=session)
    if own:
        sink, trigger = dv.parquet(path / "out"), {"availableNow": True}
        query.write(sink, str(checkpoint), trigger=trigger, session=session).awaitTermination()
    else:
        writer = query.spark().writeStream.format("parquet").option("path", str(path / "out"))
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        writer.start().awaitTermination()
    session.stop()


if __name__ == "__main__":
    main()
