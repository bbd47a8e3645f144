"""Results in files aside, written where they are made: Spark carries only the names of the files.

    rows of a bucket's batch -> out/_writing/5f3a.parquet -> "5f3a.parquet, bucket 2" -> the commit, on the driver

So rows leave their process once, into the file. An attempt that fails leaves a file that nobody names. Buckets of an
ordered query are merged first, in one task, and that one writes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from dovetail.runtime.spark.output import REPORT, Blobs, Output, around
from dovetail.runtime.spark.sink.delta import DeltaTable
from dovetail.runtime.spark.sink.kafka import KafkaTopic
from dovetail.runtime.spark.sink.parquet import ParquetFolder, Written
from dovetail.runtime.spark.streaming_run import query_id
from dovetail.runtime.spark.types import spark_schema
from dovetail.runtime.spark.unpack import Unpacker

Place = ParquetFolder | KafkaTopic | DeltaTable
_NAMES = pa.schema({"name": pa.string(), "task": pa.int32(), "query": pa.string()})  # as in Written


def filed(rows: pa.Schema, ordered: bool, place: Place) -> Output:
    """The output that leaves rows in files of a place; ``ordered``: after those of all buckets were merged."""
    return Merged(rows, ordered, place) if ordered else Filed(rows, place)


def written(names: DataFrame) -> list[Written]:
    """The files that tasks have written; this runs the batch."""
    return [Written(*row) for row in names.collect()]


@dataclass(frozen=True)
class Filed:
    """Files by bucket; a value that travels to the workers."""

    schema: pa.Schema
    place: Place

    @property
    def given(self) -> spark.StructType:
        return spark_schema(_NAMES).add(REPORT, "string")

    def rows(self, results: Iterable[pa.RecordBatch], bucket: int) -> Iterator[pd.DataFrame]:
        for names in _written(self.place, (batch.cast(self.schema) for batch in results), bucket, query_id()):
            yield around({**names, REPORT: pa.nulls(1, pa.string())})

    def report(self, text: str) -> pd.DataFrame:
        return around({**{field.name: pa.nulls(1, field.type) for field in _NAMES}, REPORT: pa.array([text])})

    def results(self, joined: DataFrame) -> DataFrame:
        return joined.select(*_NAMES.names).where("name IS NOT NULL")


@dataclass(frozen=True)
class Merged(Blobs):
    """One file of all buckets, in order."""

    place: Place

    def results(self, joined: DataFrame) -> DataFrame:
        return names_of(self.blobs(joined), Unpacker(self.schema, self.ordered), self.place)


def names_of(blobs: DataFrame, rows: Unpacker, place: Place, query: str | None = None) -> DataFrame:
    """The files that tasks make of blobs; those of the query that runs if none is named."""

    def write(batches: Any) -> Any:
        context = TaskContext.get()
        task = context.partitionId() if context else 0
        for names in _written(place, rows(batches), task, query or query_id()):
            yield pa.RecordBatch.from_pydict(names, schema=_NAMES)

    return blobs.mapInArrow(write, spark_schema(_NAMES))


def _written(place: Place, rows: Iterable[pa.RecordBatch], task: int, query: str) -> Iterator[dict[str, pa.Array]]:
    """The row that names a file, if there was anything to write."""
    file = place.write(rows, task, query)
    if file is not None:
        yield {field.name: pa.array([getattr(file, field.name)], field.type) for field in _NAMES}
