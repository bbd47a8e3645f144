"""How results leave the operator and become rows of a DataFrame.

    columns   the result's own columns, beside the report: nothing more to do on the way out
    blobs     many rows as single values, unpacked by another step: for ordered queries of several buckets, whose
              rows are merged there, and for types inside of which Spark would touch every value (arrays, maps,
              structures)
    files     written by the operator itself, and only their names leave it (``sink/filed.py``)

Spark takes pandas frames from the operator; columns that pandas only wraps around Arrow pass through it uncopied.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as spark

from dovetail.runtime.merge_order import merged
from dovetail.runtime.spark.blob import BlobColumn, from_blob, in_pieces
from dovetail.runtime.spark.types import arrow_schema, spark_schema
from dovetail.runtime.spark.unpack import Unpacker

REPORT = "report"
RESULT_BYTES = 8 << 20  # Java takes a message whole into memory


class Output(Protocol):
    """What the operator gives to Spark, and what becomes of it."""

    @property
    def given(self) -> spark.StructType:
        """The operator's columns, the report among them."""

    def rows(self, results: Iterable[pa.RecordBatch], bucket: int) -> Iterator[pd.DataFrame]:
        """The results of one bucket's batch."""

    def report(self, text: str) -> pd.DataFrame:
        """The row that ends a bucket's batch."""

    def results(self, joined: DataFrame) -> DataFrame:
        """The results as rows, without the reports."""


Outputs = Callable[[pa.Schema, bool], Output]  # by the schema of the rows, and whether they must be put in order


def output_of(rows: pa.Schema, ordered: bool) -> Output:
    """The cheapest way for rows of this schema; columns that it says are never NULL are not asked whether they are."""
    carried = arrow_schema(spark_schema(rows))
    sure = [not field.nullable and pa.types.is_primitive(to.type) for field, to in zip(rows, carried, strict=True)]
    schema = pa.schema([to.with_nullable(not never) for to, never in zip(carried, sure, strict=True)])
    if ordered or any(pa.types.is_nested(field.type) for field in schema):
        return Blobs(schema, ordered)
    return Columns(schema)


@dataclass(frozen=True)
class Columns:
    """Results as they are; columns go by position, so that no name a user may choose can matter on the way."""

    schema: pa.Schema

    @property
    def given(self) -> spark.StructType:
        fields = enumerate(_fields(self.schema))
        own = [spark.StructField(f"c{at}", field.dataType, field.nullable) for at, field in fields]
        return spark.StructType([spark.StructField(REPORT, spark.StringType()), *own])

    def rows(self, results: Iterable[pa.RecordBatch], bucket: int) -> Iterator[pd.DataFrame]:
        for piece in in_pieces(results, RESULT_BYTES):
            whole = pa.concat_batches(piece).cast(self.schema)
            yield self._frame(pa.nulls(whole.num_rows, pa.string()), whole.columns)

    def report(self, text: str) -> pd.DataFrame:
        return self._frame(pa.array([text]), [_nothing(field) for field in self.schema])

    def _frame(self, report: pa.Array, columns: Sequence[pa.Array]) -> pd.DataFrame:
        return around({REPORT: report, **{f"c{at}": column for at, column in enumerate(columns)}})

    def results(self, joined: DataFrame) -> DataFrame:
        names = enumerate(self.schema.names)
        return joined.where(F.col(REPORT).isNull()).select(*(F.col(f"c{at}").alias(name) for at, name in names))


@dataclass(frozen=True)
class Blobs:
    """Results in blobs; those of an ordered query all come to one task, and are sorted there."""

    schema: pa.Schema
    ordered: bool

    @property
    def given(self) -> spark.StructType:
        return spark.StructType().add("blob", "binary").add(REPORT, "string")

    def rows(self, results: Iterable[pa.RecordBatch], bucket: int) -> Iterator[pd.DataFrame]:
        for piece in in_pieces(results, RESULT_BYTES):
            column = BlobColumn(piece[0].schema)
            column.write(piece)
            blobs = column.array()
            yield around({"blob": blobs, REPORT: pa.nulls(len(blobs), pa.string())})

    def report(self, text: str) -> pd.DataFrame:
        return around({"blob": pa.nulls(1, pa.binary()), REPORT: pa.array([text])})

    def results(self, joined: DataFrame) -> DataFrame:
        unpacker = Unpacker(self.schema, self.ordered)

        def unpack(batches: Any) -> Any:
            return unpacker(batches)

        rows = spark.StructType(_fields(self.schema))
        return self.blobs(joined).mapInArrow(unpack, rows)

    def blobs(self, joined: DataFrame) -> DataFrame:
        """Without the reports; all in one task if they must be put in order."""
        blobs = joined.select("blob").where("blob IS NOT NULL")
        return blobs.repartition(1) if self.ordered else blobs


class NamedBlobs:
    """Blobs of one query's rows each, with its name and those of their columns: for queries that come and go."""

    given = (
        spark.StructType().add("query", "string").add("columns", "string").add("blob", "binary").add(REPORT, "string")
    )

    def rows(self, results: Iterable[pa.RecordBatch], bucket: int) -> Iterator[pd.DataFrame]:
        return map(self._named, in_pieces(results, RESULT_BYTES))

    def _named(self, piece: Sequence[pa.RecordBatch]) -> pd.DataFrame:
        whole = pa.Table.from_batches(piece).combine_chunks()
        parts: dict[str, list[pa.Array]] = {"query": [], "blob": []}
        for name in pc.unique(whole["query"]):
            own = whole.filter(pc.equal(whole["query"], name)).drop_columns("query")
            column = BlobColumn(own.schema)
            column.write(own.to_batches())
            parts["blob"].append(column.array())
            parts["query"].append(pa.repeat(name, len(column.array())))
        blobs = pa.chunked_array(parts["blob"]).combine_chunks()
        columns = pa.repeat(json.dumps(whole.schema.names[1:]), len(blobs))
        named = {"query": pa.chunked_array(parts["query"]).combine_chunks(), "columns": columns, "blob": blobs}
        return around(named | {REPORT: pa.nulls(len(blobs), pa.string())})

    def report(self, text: str) -> pd.DataFrame:
        nothing = {name: pa.nulls(1, pa.string()) for name in ("query", "columns")}
        return around(nothing | {"blob": pa.nulls(1, pa.binary()), REPORT: pa.array([text])})

    def results(self, joined: DataFrame) -> DataFrame:
        return joined.where(F.col(REPORT).isNull()).drop(REPORT)


def rows_of(blobs: DataFrame, name: str, schema: pa.Schema, ordered: bool) -> DataFrame:
    """The rows of one query among named blobs; in order of their time, if it asked for one."""
    own = blobs.where(F.col("query") == name).select("columns", "blob")

    def unpack(batches: Any) -> Any:
        found = (rows for batch in batches for rows in _named_rows(batch, schema))
        return merged(list(found)) if ordered else found

    return (own.repartition(1) if ordered else own).mapInArrow(unpack, spark_schema(schema))


def _named_rows(batch: pa.RecordBatch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    carried = arrow_schema(spark_schema(schema))
    for columns, blob in zip(batch.column("columns").to_pylist(), batch.column("blob"), strict=True):
        for rows in from_blob(blob.as_buffer(), json.loads(columns)):
            yield rows.select(schema.names).cast(carried)


def around(columns: Mapping[str, pa.Array]) -> pd.DataFrame:
    """A pandas frame around Arrow arrays."""
    return pd.DataFrame({name: pd.arrays.ArrowExtensionArray(column) for name, column in columns.items()}, copy=False)


def _fields(schema: pa.Schema) -> list[spark.StructField]:
    """Spark's fields, those that are never NULL as such."""
    both = zip(schema, spark_schema(schema).fields, strict=True)
    return [spark.StructField(to.name, to.dataType, field.nullable) for field, to in both]


def _nothing(field: pa.Field) -> pa.Array:
    """One value that nobody reads; a zero where NULL is ruled out."""
    if field.nullable:
        return pa.nulls(1, field.type)
    return pa.Array.from_buffers(field.type, 1, [None, pa.py_buffer(bytes(field.type.bit_width))])
