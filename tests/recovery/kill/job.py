"""A pipeline as a process of its own: Parquet folders in, a Parquet folder out, from its checkpoint if it has one.

python -m tests.recovery.kill.job FOLDER MASTER OPTIONS, where OPTIONS is JSON for ``dovetail.join``; with "own"
Dovetail reads and writes the files itself, or topics if it is the address of a broker, and files out of topics with
"filed"; with "then" its checkpoint is first made into one of so many partitions;
with "steps" it has gone through so many numbers of partitions, one checkpoint for each, and "settings" are Spark's;
with "finish" what it holds at the end comes out; "names" and "on" are of other streams than A and B, "asof" is the
direction in which all but A are as-of streams
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

TOPIC_ROWS = 60  # of a batch: several batches of what the tests send
_NOT_OF_JOIN = ("own", "then", "finish", "names", "steps", "settings", "filed")


def query_of(data: dict[str, Any], options: dict[str, Any]) -> dv.Query:
    """The query of a job."""
    rest = {name: value for name, value in options.items() if name not in _NOT_OF_JOIN}
    on, asof = rest.pop("on", "A.k = B.k"), rest.pop("asof", None)
    if asof is None:
        return build(on, data, **rest)
    schemas = {name: SCHEMA if isinstance(frame, dv.Files | dv.Kafka) else None for name, frame in data.items()}
    best = {name: None if name == "A" else dv.asof(asof, tolerance="1 second") for name in data}
    streams = [
        dv.stream(name, frame, time="ts", delay="3 seconds", asof=best[name], schema=schemas[name])
        for name, frame in data.items()
    ]
    return dv.join(*streams, on=on, select=", ".join(f"{name}.row AS {name.lower()}" for name in data), **rest)


def topic_of(path: Path, name: str) -> str:
    """The topic of a stream, or of results, of the job in a folder."""
    return f"{path.name}-{name}"


def _source(name: str, own: bool | str, path: Path, session: Any) -> Any:
    if isinstance(own, str):
        return dv.kafka(own, topic_of(path, name), max_rows=TOPIC_ROWS)
    if own:
        return dv.files(path / name, max_files=1)
    reader = session.readStream.option("maxFilesPerTrigger", 1).schema(spark_schema(SCHEMA))
    return reader.parquet(str(path / name))


def main() -> None:
    """Run everything there is to read, then end."""
    path, master, options = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    steps = options.get("steps") or [3, *([options["then"]] if "then" in options else [])]
    then, own, names = steps[-1] if len(steps) > 1 else None, options.get("own", False), options.get("names", "AB")
    settings = {"spark.master": master, "spark.local.dir": str(path / "local"), **options.get("settings", {})}
    settings |= {} if then is None else {SHUFFLE_PARTITIONS: str(then)}
    session = spark_session(cores=2, name="job", settings=settings)
    data = {name: _source(name, own, path, session) for name in names}
    first = query_of(data, {"partitions": 3, **options})
    query, checkpoint = first, path / "checkpoint"
    if then is not None:
        query, checkpoint = first.replace(partitions=then), path / f"checkpoint_{len(steps) - 1}"
        before = path / (f"checkpoint_{len(steps) - 2}" if len(steps) > 2 else "checkpoint")
        if not checkpoint.exists():
            query.migrate(str(before), str(checkpoint), of=first.replace(partitions=steps[-2]), session=session)
    if own:
        into_topic, trigger = isinstance(own, str) and not options.get("filed"), {"availableNow": True}
        sink = dv.kafka(own, topic_of(path, "out")) if into_topic else dv.parquet(path / "out")
        if not options.get("finish") or not (checkpoint / "finished").exists():  # killed while it was finished
            query.write(sink, str(checkpoint), trigger=trigger, session=session).awaitTermination()
        if options.get("finish"):
            query.finish(str(checkpoint), sink, session)
    else:
        writer = query.spark().writeStream.format("parquet").option("path", str(path / "out"))
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        writer.start().awaitTermination()
    session.stop()


if __name__ == "__main__":
    main()
