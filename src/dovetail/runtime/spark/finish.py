"""The end of a streaming query whose inputs have ended: what its checkpoint still holds comes out.

    run to the end of what there is     query.write(sink, checkpoint, trigger={"availableNow": True})
    finish                              every bucket's state is read, closed as at the end of all input, and given out

Ordered rows, rows that wait for a partner, and aggregates come out exactly as if the streams had ended. The checkpoint
is read and not changed, so the same rows come out however often this is done. In a sink they are those of the batch
after the last: done again after a failure, they replace each other. A mark in the checkpoint then says that it is over.
"""

from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dovetail.engine.buffer.section import Changes
from dovetail.errors import PlanError, StateError
from dovetail.model.combinations import check_combination
from dovetail.model.never_null import noted_schema
from dovetail.plan.physical import Plan
from dovetail.plan.share_queries import SharedPlan
from dovetail.plan.split_query import asked_tree
from dovetail.runtime.spark.blob import BlobColumn, in_pieces
from dovetail.runtime.spark.checkpoint_files import last_batch, mark_finished, query_id_of
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import RESULT_BYTES, Blobs
from dovetail.runtime.spark.pipeline import job_of, session_of
from dovetail.runtime.spark.read_state import operators_of, state_variable
from dovetail.runtime.spark.session import check_session
from dovetail.runtime.spark.sink.filed import Place, names_of, written
from dovetail.runtime.spark.spilled_state import StateParts
from dovetail.runtime.spark.state import read_sealed_header, read_slice
from dovetail.runtime.spark.types import arrow_schema, spark_schema
from dovetail.runtime.spark.unpack import Unpacker


def finish(plan: Plan, checkpoint: str, session: SparkSession | None = None) -> DataFrame:
    """The rows that a query's checkpoint still holds, as a DataFrame; in order if the query has one."""
    return _closed(plan, noted_schema(plan.query), checkpoint, session).results


def finish_shared(shared: SharedPlan, checkpoint: str, session: SparkSession | None = None) -> DataFrame:
    """The same of queries that share an operator, each named in the first column."""
    return _closed(shared.plan, shared.schema, checkpoint, session, shared).results


def finish_into(plan: Plan, place: Place, checkpoint: str, session: SparkSession | None = None) -> None:
    """Write those rows as the batch after the last one, and mark the checkpoint as finished."""
    closed = _closed(plan, noted_schema(plan.query), checkpoint, session)
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


def _closed(
    plan: Plan, rows: pa.Schema, checkpoint: str, session: SparkSession | None, shared: SharedPlan | None = None
) -> _Closed:
    query = plan.query
    check_combination(query, "shared" if shared else None, "spark")
    if asked_tree(query) is not None:
        raise PlanError("finish: this query has a plan of several operators; only one of a single operator is finished")
    session = session or session_of(query)
    check_session(session)
    last_batch(checkpoint)
    metadata = session.read.format("state-metadata").load(checkpoint).select("numPartitions").first()
    job = job_of(plan, int(metadata.numPartitions) if metadata else 1, uuid4().hex, shared)
    allowed = job.identity.fingerprints(job.layouts.plan())
    for operator in operators_of(session, checkpoint):
        heads = state_variable(session, checkpoint, operator, "head")
        if {row[0] for row in heads.select("value.fingerprint").distinct().collect()} <= set(allowed):
            state = _state(session, checkpoint, operator, job.spills)
            return _Closed(state, CloseBucket(job), rows, query.order != "none")
    raise StateError(f"{checkpoint} was not written by this query, which is:\n{job.identity.text}")


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
        head = next(row for row in rows if row["token"] is not None)
        header = read_sealed_header(head["token"], head["blob"], head["lineage"])
        slices = {(row["name"], row["number"]): row["blob"] for row in rows if row["name"] and row is not head}
        parts = StateParts()
        parts.bind(_Parts({(row["number"],): (row["blob"],) for row in rows if row["name"] is None}))
        operator = self._job.operator(parts)
        operator.apply(Changes({key: read_slice(key, blob) for key, blob in slices.items()}, [], header))
        blobs = [_blobs(piece) for piece in in_pieces(operator.close(), RESULT_BYTES)]
        return pa.table({"blob": pa.chunked_array(blobs, pa.binary())})


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
