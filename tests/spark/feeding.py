"""Streams as folders of Parquet files: one file per stream and micro-batch, read one per trigger."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import dovetail as dv
from dovetail.runtime.spark.types import spark_schema
from dovetail.testing import Push
from tests.spark.queries import SCHEMA, random_rows


class Folder:
    """The inputs, the output and the checkpoint of one pipeline."""

    def __init__(self, spark: Any, path: Path, names: str) -> None:
        self.spark, self.path, self.names = spark, path, names
        self._files = 0
        for name in names:
            (path / name).mkdir(parents=True)

    def feed(self, batches: list[Push]) -> None:
        """Write micro-batches; Spark reads files in the order of their age."""
        for batch in batches:
            self._files += 1
            for name in self.names:
                file = self.path / name / f".{self._files:04}.parquet"  # a running query sees it only when it is whole
                pq.write_table(batch.batch.get(name, SCHEMA.empty_table()), file)
                os.utime(file, (10**9 + self._files, 10**9 + self._files))
                file.rename(file.with_name(file.name[1:]))

    def frame(self, name: str, streaming: bool = True, schema: pa.Schema = SCHEMA) -> Any:
        """A stream as a DataFrame."""
        reader = self.spark.readStream.option("maxFilesPerTrigger", 1) if streaming else self.spark.read
        return reader.schema(spark_schema(schema)).parquet(str(self.path / name))

    def frames(self, streaming: bool = True) -> dict[str, Any]:
        """All streams."""
        return {name: self.frame(name, streaming) for name in self.names}

    def run(self, frame: Any) -> Any:
        """Run a pipeline over all there is, from its checkpoint if it has one."""
        writer = frame.writeStream.format("parquet").option("path", str(self.path / "out"))
        writer = writer.option("checkpointLocation", str(self.path / "checkpoint"))
        started = writer.trigger(availableNow=True).start()
        started.awaitTermination()
        return started

    def rows(self, query: dv.Query) -> pa.Table:
        """What has come out so far."""
        table: pa.Table = self.spark.read.schema(query.spark().schema).parquet(str(self.path / "out")).toArrow()
        return table.cast(query.schema)


def random_batches(names: str, seed: int, batches: int = 4, count: int = 40) -> list[Push]:
    """Micro-batches that overlap in time by less than the streams' delay; now and then a stream stays silent."""
    pushes = []
    for batch in range(batches):
        held = {}
        for place, name in enumerate(names):
            mixed = seed * 1000 + batch * 10 + place
            if mixed % 7:
                size = count + mixed % 13
                held[name] = random_rows(mixed, size, batch * 2.5, 3, first_row=batch * 1000)
        pushes.append(Push(held))
    return pushes
