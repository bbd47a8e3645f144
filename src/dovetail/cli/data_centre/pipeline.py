"""The example running on Spark: start it, hand over what comes, stop it.

Spark hands over the alarms of each micro-batch in a thread of its own; the demo takes them out of a queue.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.api import Query
from dovetail.cli.data_centre.sensors import HUMIDITY, TEMPERATURE, hot_and_wet, readings
from dovetail.cli.data_centre.tally import Batch

if TYPE_CHECKING:
    from dovetail.runtime.spark.frames import DataFrame, SparkSession


@dataclass(frozen=True)
class Pipeline:
    """A running query: its batches by number, its alarms as they come, and why it died if it did."""

    query: Any
    delivered: "SimpleQueue[pa.Table]"
    made_from: Query | None = None

    def batches_after(self, number: int) -> list[Batch]:
        """Micro-batches that are new since the one with this number."""
        from dovetail.runtime.spark.metrics import spark_metrics

        newest = self.query.lastProgress
        if newest is None or newest.batchId <= number:
            return []
        return [Batch.of(metrics) for metrics in spark_metrics(self.query) if metrics["batch"] > number]

    def alarms(self) -> pa.Table | None:
        """Alarms delivered since the last call."""
        tables = []
        while not self.delivered.empty():
            tables.append(self.delivered.get())
        return pa.concat_tables(tables) if tables else None

    def failure(self) -> str | None:
        """Why the query ended by itself; None while it runs."""
        if self.query.isActive:
            return None
        error = self.query.exception()
        return str(error).splitlines()[0] if error else "the query ended by itself"


@contextmanager
def spark_in(folder: Path) -> "Iterator[SparkSession]":
    """A quiet local session on all cores that leaves nothing outside the folder."""
    from dovetail.runtime.spark.session import spark_session

    tempfile.tempdir = str(folder)  # where the session sends Spark's own chatter
    kept = {
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}",
    }
    session = spark_session(name="dovetail demo", settings=kept)
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def running(session: "SparkSession", folder: Path) -> Iterator[Pipeline]:
    """The query over made-up sensors, from its start until the block is left."""
    delivered: SimpleQueue[pa.Table] = SimpleQueue()

    def deliver(alarms: "DataFrame", batch: int) -> None:
        delivered.put(alarms.toArrow())

    joined = hot_and_wet(readings(session, TEMPERATURE), readings(session, HUMIDITY))
    writing = joined.spark().writeStream.foreachBatch(deliver).option("checkpointLocation", str(folder / "checkpoint"))
    query = writing.start()
    try:
        yield Pipeline(query, delivered, joined)
    finally:
        query.stop()
