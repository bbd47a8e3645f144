"""The sink that Spark drives: tasks write, and the driver commits what all of them wrote.

Rows that come here are blobs, a few dozen of them; so they are as cheap one by one, as Spark 4.0 hands them over.
"""

import pickle
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from dovetail.runtime.spark.sink.delta import DeltaTable
from dovetail.runtime.spark.sink.kafka import KafkaTopic
from dovetail.runtime.spark.sink.parquet import ParquetFolder, Written
from dovetail.runtime.spark.streaming_run import query_id
from dovetail.runtime.spark.unpack import Unpacker

Place = ParquetFolder | KafkaTopic | DeltaTable
NAME, PLACE, ROWS = "dovetail-sink", "place", "rows"
Writer: Any = getattr(datasource, "DataSourceStreamArrowWriter", DataSourceStreamWriter)  # since Spark 4.1


@dataclass
class Message(WriterCommitMessage):
    """What a task tells the driver."""

    written: Written | None


class BlobSink(DataSource):
    """Blobs of results in, files or messages out."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def streamWriter(self, schema: StructType, overwrite: bool) -> "BlobWriter":  # noqa: N802
        return BlobWriter(*(pickle.loads(b64decode(self.options[name])) for name in (PLACE, ROWS)))


def options_of(place: Place, rows: Unpacker) -> dict[str, str]:
    """The options of a sink."""
    return {name: b64encode(pickle.dumps(value)).decode() for name, value in ((PLACE, place), (ROWS, rows))}


class BlobWriter(Writer):  # type: ignore[misc]  # which of two it is depends on Spark
    """Writes the blobs of a task aside, and has what all tasks wrote moved to its place."""

    def __init__(self, place: Place, rows: Unpacker) -> None:
        self._place, self._rows = place, rows

    def write(self, iterator: Iterator[Any]) -> Message:
        """All blobs of a task."""
        context = TaskContext.get()
        task = context.partitionId() if context else 0
        return Message(self._place.write(self._rows(_batches(iterator)), task, query_id()))

    def commit(self, messages: Sequence[Message | None], batchId: int) -> None:  # noqa: N803
        self._place.commit(_written(messages), batchId)

    def abort(self, messages: Sequence[Message | None], batchId: int) -> None:  # noqa: N803
        self._place.abort(_written(messages))


def _written(messages: Sequence[Message | None]) -> list[Written]:
    return [message.written for message in messages if message is not None and message.written is not None]


def _batches(given: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    for each in given:
        yield each if isinstance(each, pa.RecordBatch) else pa.RecordBatch.from_pydict({"blob": [bytes(each["blob"])]})
