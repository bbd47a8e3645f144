"""The state of one query between snapshots and checkpoints: any number of buckets on one side, any on the other.

    snapshot_of    checkpoint -> snapshot     buckets are read through Spark's reader of state and gathered
    dealt          snapshot -> buckets        rows of a new pipeline's initial state, one per bucket

So a query goes on with another number of partitions, moves from the embedded engine to Spark and back, or begins live
from what a run over its history has left. Packers apply conditions that the embedded engine applies itself, so the
columns that only these need are not stored on Spark; who comes from there has them without values, and asks for none.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dovetail.engine.buffer.section import Changes, Slices
from dovetail.engine.operator.snapshot import pack_snapshot, unpack_snapshot
from dovetail.errors import StateError
from dovetail.model.fingerprint import fingerprints
from dovetail.plan.physical import Plan
from dovetail.runtime.operator_of import operator_of
from dovetail.runtime.spark.identity import Identity
from dovetail.runtime.spark.layout import Layout, Layouts
from dovetail.runtime.spark.read_state import read_state
from dovetail.runtime.spark.state import STATE
from dovetail.runtime.threads.redeal import can_be_dealt, deal_out, gather

_ROWS = ("window", "waiting")


def snapshot_of(session: SparkSession, checkpoint: str | Path, plan: Plan, stored: Plan, identity: Identity) -> bytes:
    """What the query in a checkpoint has left, as a snapshot; StateError if another query wrote it."""
    (buckets, *others) = read_state(session, checkpoint)
    if not buckets and not others:  # its batches had no rows so far, so that no bucket was ever told anything
        return gathered(plan, stored, Layouts(plan.query, 1).plan(), [operator_of(stored).state()])
    metadata = session.read.format("state-metadata").load(str(checkpoint)).select("numPartitions").first()
    assert metadata is not None, "there are buckets, so there is a row about them"
    layout = Layouts(plan.query, int(metadata.numPartitions)).plan()
    allowed = identity.fingerprints(layout)
    foreign = next((bucket for bucket in buckets.values() if bucket.fingerprint not in allowed), None)
    if others or foreign is not None or set(buckets) != set(layout.numbers):
        written_by = foreign.origin if foreign is not None else "a query of several operators, or of other buckets"
        raise StateError(
            f"{checkpoint} was not written by this query, but by:\n{written_by}\nThis query is:\n{identity.text}"
        )
    return gathered(plan, stored, layout, [buckets[number].changes for number in layout.numbers])


def gathered(plan: Plan, stored: Plan, layout: Layout, buckets: Sequence[Changes]) -> bytes:
    """The states of all buckets, in order of their cells, as one snapshot; ``stored``: the plan of their operators."""
    _check_can_be_dealt(buckets[0])
    cells = [_live(stored, bucket) for bucket in buckets]
    whole = cells[0] if len(cells) == 1 else gather(plan.query, layout.grid, cells, dict.fromkeys(plan.query.names, 0))
    return pack_snapshot(fingerprints(plan.query)[0], _changed(whole, lambda name, rows: _filled(plan, name, rows)))


def dealt(session: SparkSession, parts: Sequence[bytes], layout: Layout) -> DataFrame:
    """A row for every bucket of a new pipeline, with its part of the state."""
    columns = {"bucket": pa.array(layout.numbers, pa.int32()), STATE: pa.array(parts, pa.binary())}
    return session.createDataFrame(pa.table(columns))


def parts_of(snapshot: bytes, plan: Plan, stored: Plan, layout: Layout) -> list[bytes]:
    """The part of every cell, as what its bucket begins with; ``stored``: the plan of the operators."""
    whole = unpack_snapshot(snapshot, *fingerprints(plan.query))
    _check_can_be_dealt(whole)
    whole = _changed(whole, lambda name, rows: rows.select(list(stored.columns[name])))
    cells = [whole] if layout.grid.cells == 1 else deal_out(stored.query, layout.grid, whole)
    return [pack_snapshot(str(layout), cell) for cell in cells]


def _check_can_be_dealt(state: Changes) -> None:
    if not can_be_dealt(state):
        raise StateError(
            "this state has parts that cannot be dealt out to other buckets (spilled rows, aggregates, an account of "
            "what was left out). Go on where it was written, with as many partitions."
        )


def _live(stored: Plan, bucket: Changes) -> Changes:
    """A state without what slices still have of tuples that have left."""
    operator = operator_of(stored)
    operator.apply(bucket)
    return operator.state()


def _changed(state: Changes, change: Callable[[str, pa.RecordBatch], pa.RecordBatch]) -> Changes:
    """The state with other columns in the rows of streams."""
    slices: Slices = {}
    for (section, number), rows in state.new.items():
        kind, _, name = section.partition("/")
        slices[section, number] = change(name, rows) if kind in _ROWS else rows
    return Changes(slices, [], state.header)


def _filled(plan: Plan, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    schema, columns = plan.query.stream(name).schema, plan.columns[name]
    known = dict(zip(rows.schema.names, rows.columns, strict=True))
    values = [known.get(column, pa.nulls(rows.num_rows, schema.field(column).type)) for column in columns]
    return pa.RecordBatch.from_arrays(values, names=list(columns))
