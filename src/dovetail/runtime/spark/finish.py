"""The end of a streaming query whose inputs have ended: what its checkpoint still holds comes out.

    run to the end of what there is     query.write(sink, checkpoint, trigger={"availableNow": True})
    finish                              every bucket's state is read, closed as at the end of all input, and given out

Ordered rows, rows that wait for a partner, and aggregates come out exactly as if the streams had ended. The checkpoint
is read and not changed, so the same rows come out however often this is done. In a sink they are those of the batch
after the last: done again after a failure, they replace each other. A mark in the checkpoint then says that it is over.
A tree is closed from below: what comes out of an operator goes to the one above it, which is then closed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dovetail.engine.buffer.section import Changes
from dovetail.errors import StateError
from dovetail.model.combinations import check_combination
from dovetail.model.never_null import noted_schema
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.share_budget import budgeted_tree
from dovetail.plan.share_queries import SharedPlan
from dovetail.plan.split_query import Operator, asked_tree
from dovetail.runtime.spark.blob import BlobColumn, from_blob, in_pieces, owned
from dovetail.runtime.spark.checkpoint_files import last_batch, mark_finished, query_id_of
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import RESULT_BYTES, Blobs
from dovetail.runtime.spark.pipeline import dealt_out, job_of, session_of
from dovetail.runtime.spark.read_state import operators_of, state_variable
from dovetail.runtime.spark.session import check_session
from dovetail.runtime.spark.sink.filed import Place, names_of, written
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.spark.state import read_head, read_slice
from dovetail.runtime.spark.types import arrow_schema, spark_schema
from dovetail.runtime.spark.unpack import Unpacker

_ARRIVING = "arriving "  # before the name of a stream, beside sections of the state


def finish(plan: Plan, checkpoint: str, session: SparkSession | None = None) -> DataFrame:
    """The rows that a query's checkpoint still holds, as a DataFrame; in order if the query has one."""
    return _finished(plan, checkpoint, session).results


def finish_shared(shared: SharedPlan, checkpoint: str, session: SparkSession | None = None) -> DataFrame:
    """The same of queries that share an operator, each named in the first column."""
    check_combination(shared.plan.query, "shared", "spark")
    return _opened(shared.plan, checkpoint, session).closed(shared.plan, shared.schema, {}, shared).results


def finish_into(plan: Plan, place: Place, checkpoint: str, session: SparkSession | None = None) -> None:
    """Write those rows as the batch after the last one, and mark the checkpoint as finished."""
    closed = _finished(plan, checkpoint, session)
    query, batch = query_id_of(checkpoint), last_batch(checkpoint) + 1
    place.tidy()
    mark_finished(checkpoint, batch)
    rows = Unpacker(plan.query.schema, plan.query.order != "none")
    place.commit(written(names_of(closed.blobs, rows, place, query)), batch)


class _Closed:
    """What comes out, as rows and as blobs."""

    def __init__(self, state: DataFrame, close: "CloseBucket", rows: pa.Schema, ordered: bool) -> None:
        def closed(table: pa.Table) -> pa.Table:
            return close(table)

        joined = state.groupBy("bucket").applyInArrow(closed, "blob binary")
        schema = arrow_schema(spark_schema(rows))
        self.results = Blobs(schema, ordered).results(joined)
        self.blobs = Blobs(schema, ordered).blobs(joined)


def _finished(plan: Plan, checkpoint: str, session: SparkSession | None) -> _Closed:
    """What all operators of a query hold."""
    query = plan.query
    check_combination(query, runtime="spark")
    tree = asked_tree(query)
    top = Operator(query, {}) if tree is None else budgeted_tree(query, tree)
    return _from_below(top, _opened(plan, checkpoint, session), noted_schema(query))


def _from_below(top: Operator, opened: "_Opened", rows: pa.Schema) -> _Closed:
    below = {name: _from_below(each, opened, each.query.schema).results for name, each in top.below.items()}
    return opened.closed(plan_query(top.query), rows, below)


def _opened(plan: Plan, checkpoint: str, session: SparkSession | None) -> "_Opened":
    session = session or session_of(plan.query)
    check_session(session)
    last_batch(checkpoint)
    metadata = session.read.format("state-metadata").load(checkpoint).select("numPartitions").first()
    return _Opened(session, checkpoint, int(metadata.numPartitions) if metadata else 1)


@dataclass(frozen=True)
class _Opened:
    """A checkpoint, and the partitions of its state."""

    session: SparkSession
    checkpoint: str
    partitions: int

    def closed(
        self, plan: Plan, rows: pa.Schema, arriving: Mapping[str, DataFrame], shared: SharedPlan | None = None
    ) -> _Closed:
        """What one operator holds, after the last rows of those below it have come."""
        job = job_of(plan, self.partitions, uuid4().hex, shared)
        allowed = job.identity.fingerprints(job.layouts.plan())
        for operator in operators_of(self.session, self.checkpoint):
            heads = state_variable(self.session, self.checkpoint, operator, "head")
            if {row[0] for row in heads.select("value.fingerprint").distinct().collect()} <= set(allowed):
                state = _state(self.session, self.checkpoint, operator, job.spills)
                last = [_arriving(name, dealt_out(plan, job, name, frame)) for name, frame in arriving.items()]
                state = reduce(DataFrame.unionAll, last, state)
                return _Closed(state, CloseBucket(job), rows, plan.query.order != "none")
        raise StateError(f"{self.checkpoint} was not written by this query, which is:\n{job.identity.text}")


def _arriving(name: str, packed: DataFrame) -> DataFrame:
    """Rows of a stream in the form of a state."""
    number = "CAST(partition AS LONG) * 4294967296 + sequence AS number"
    columns = (f"'{_ARRIVING}{name}' AS name", number, "blob", "NULL AS token", "NULL AS lineage")
    return packed.where("blob IS NOT NULL").selectExpr("bucket", *columns)


def _state(session: SparkSession, checkpoint: str, operator: int, spills: bool) -> DataFrame:
    """Heads, slices and spilled parts in rows of one form."""

    def rows(variable: str, name: str, number: str, blob: str, token: str, lineage: str) -> DataFrame:
        found = state_variable(session, checkpoint, operator, variable)
        bucket = f"key.`{found.schema['key'].dataType.names[0]}` AS bucket"
        columns = f"{name} AS name, CAST({number} AS LONG) AS number, {blob} AS blob, {token} AS token"
        one: DataFrame = found.selectExpr(bucket, *columns.split(", "), f"{lineage} AS lineage")
        return one

    slices = "user_map_key.section", "user_map_key.number", "user_map_value.blob"
    state = rows("head", "'head'", "0", "value.header", "value.token", "value.lineage").unionAll(
        rows("slices", *slices, "NULL", "NULL")
    )
    if not spills:
        return state
    return state.unionAll(rows("parts", "NULL", *slices[1:], "NULL", "NULL"))


class CloseBucket:
    """The state of one bucket in, the blobs of all that it holds out; a value that travels to the workers."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, state: pa.Table) -> pa.Table:
        rows = state.to_pylist()  # a row is a slice of many tuples
        named = [row for row in rows if row["name"] and row["token"] is None]
        last = [row for row in named if row["name"].startswith(_ARRIVING)]
        kept = (row for row in named if not row["name"].startswith(_ARRIVING))
        slices = {(row["name"], row["number"]): row["blob"] for row in kept}
        parts = StateParts()
        parts.bind(_Parts({(row["number"],): (row["blob"],) for row in rows if row["name"] is None}))
        operator = self._job.operator(parts)
        for head in (row for row in rows if row["token"] is not None):  # one, or none if no batch has reached it
            header, _ = read_head(head["token"], head["blob"], head["lineage"])
            operator.apply(Changes({key: read_slice(key, blob) for key, blob in slices.items()}, [], header))
        given = chain(operator.push(self._blocks(last)) if last else (), operator.close())
        blobs = [_blobs(piece) for piece in in_pieces(given, RESULT_BYTES)]
        return pa.table({"blob": pa.chunked_array(blobs, pa.binary())})

    def _blocks(self, packed: list[dict[str, Any]]) -> dict[str, pa.RecordBatch]:
        """The rows that operators below have given at their end."""
        blocks: dict[str, list[pa.RecordBatch]] = {}
        for row in sorted(packed, key=lambda row: row["number"]):
            name = row["name"].removeprefix(_ARRIVING)
            blocks.setdefault(name, []).extend(from_blob(row["blob"], self._job.columns[name]))
        return {name: owned(batches) for name, batches in blocks.items()}


class _Parts(dict[tuple[int], tuple[bytes]]):
    """Spilled parts under the calls of Spark's map."""

    getValue = dict.get  # noqa: N815
    updateValue = dict.__setitem__  # noqa: N815

    def removeKey(self, key: tuple[int]) -> None:  # noqa: N802
        self.pop(key, None)


def _blobs(piece: list[pa.RecordBatch]) -> pa.Array:
    column = BlobColumn(piece[0].schema)
    column.write(piece)
    return column.array()
