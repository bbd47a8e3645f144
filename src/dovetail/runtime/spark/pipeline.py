"""A query as a DataFrame: pack -> shuffle -> join -> rows.

    input T --mapInArrow--> packed \\
                                    union -> groupBy(bucket) -> operator -> observe -> output -> rows
    input H --mapInArrow--> packed /

Inputs may be streaming or static DataFrames (tables and frames of other kinds become static ones). If all are static
the result is static: every row is known, so none is late, and everything is released. If some are, a static
input is a stream that has already ended: its rows come before the first batch, as the
operator's initial state, and it never holds the others back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.horizon import smallest_ahead
from dovetail.errors import PlanError
from dovetail.model.combinations import check_combination
from dovetail.model.files import Files
from dovetail.model.nested import path_of, plain_schema
from dovetail.model.never_null import noted_schema
from dovetail.model.query import JoinQuery
from dovetail.model.sources import Source
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.plan.leave_unread import leave_unread
from dovetail.plan.partition_grid import Grid
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.share_budget import budgeted_tree
from dovetail.plan.share_cells import own_axes
from dovetail.plan.share_queries import SharedPlan
from dovetail.plan.split_keys import splits_keys
from dovetail.plan.split_query import Operator, asked_tree
from dovetail.runtime.spark.clock import clock, needs_clock
from dovetail.runtime.spark.differences.first_action import start_coordinator
from dovetail.runtime.spark.differences.stateful_connect import stateful
from dovetail.runtime.spark.identity import Identity, identity, shared_identity
from dovetail.runtime.spark.layout import Layout, Layouts
from dovetail.runtime.spark.left_files import shares_files
from dovetail.runtime.spark.metrics import OBSERVATION, PACKING, REPORTS
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.output import REPORT, NamedBlobs, Output, Outputs, output_of
from dovetail.runtime.spark.pack import Packer, query_sets, ticks
from dovetail.runtime.spark.packed import PACKED, SHUFFLED
from dovetail.runtime.spark.processor import JoinProcessor
from dovetail.runtime.spark.resume import dealt, parts_of, snapshot_of
from dovetail.runtime.spark.session import check_session, count_bytes, planned_partitions
from dovetail.runtime.spark.source.frame import packed_frame
from dovetail.runtime.spark.types import holds_binary, quoted, spark_schema

EVENT_TIME = "spark.watermarkDelayMs"  # Spark's mark on a column: how long its watermark waits


def spark_join(
    plan: Plan, session: SparkSession | None = None, outputs: Outputs = output_of, snapshot: bytes | None = None
) -> DataFrame:
    """The result of a query: streaming if any input streams, static otherwise; as rows, or as other ``outputs``.

    With a ``snapshot``, a new checkpoint begins with what that holds.
    """
    check_combination(plan.query, runtime="spark")
    tree = asked_tree(plan.query)
    if snapshot is not None:
        return _pipeline(plan, session, noted_schema(plan.query), snapshot=snapshot)
    if tree is not None:
        return _chain(budgeted_tree(plan.query, tree), session or session_of(plan.query), outputs=outputs)
    return _pipeline(plan, session, noted_schema(plan.query), outputs=outputs)


def _chain(
    top: Operator, session: SparkSession, relays_us: int | None = None, outputs: Outputs = output_of
) -> DataFrame:
    """One operator after the other: the results of those below are streams of the one above."""
    delays = {stream.name: stream.delay_us for stream in top.query.streams}
    below = {name: _chain(operator, session, delays[name]) for name, operator in top.below.items()}
    streams = tuple(replace(s, data=below[s.name]) if s.name in below else s for s in top.query.streams)
    plan = plan_query(replace(top.query, streams=streams))
    relays = relays_us is not None  # then a row may say nothing but how far the operator has come
    rows = plan.query.schema if relays else noted_schema(plan.query)
    return _pipeline(plan, session, rows, relays_us=relays_us, outputs=outputs)


def spark_snapshot(plan: Plan, checkpoint: str, session: SparkSession | None = None) -> bytes:
    """What a query has left in a checkpoint, as a snapshot."""
    session = session or session_of(plan.query)
    bare, stored = plan_query(_bare(plan.query)), _operator_plan(plan)
    return snapshot_of(session, checkpoint, bare, stored, identity(plan.query, stored.columns))


def begins_with(
    plan: Plan, session: SparkSession, snapshot: bytes, rows: DataFrame
) -> tuple[DataFrame, Layout, list[bytes]]:
    """A pipeline over packed rows whose state begins with a snapshot; how that is dealt out, and the parts."""
    check_session(session)
    job = job_of(plan, planned_partitions(session), uuid4().hex)
    layout = job.layouts.plan()
    parts = parts_of(snapshot, plan, job.plan, layout)
    output = output_of(noted_schema(plan.query), _sorts(plan.query, layout.grid, False))
    return _joined(rows, dealt(session, parts, layout), job, output), layout, parts


def spark_late(plan: Plan, session: SparkSession | None = None) -> DataFrame:
    """The rows that did not come in: stream, reason, how late, the row; a pipeline of its own, in one bucket."""
    if plan.query.late != "divert":
        raise PlanError(f"late(): this query has late={plan.query.late!r}; only late='divert' hands rows over")
    check_combination(plan.query, runtime="spark")
    alone = replace(plan, query=replace(plan.query, partitions=1))
    return _pipeline(alone, session, Diverted(plan.query).schema, diverts=True)


def spark_shared(plans: Sequence[SharedPlan], session: SparkSession | None = None) -> DataFrame:
    """The results of many queries, each named in the first column: one operator per group of them."""
    return reduce(DataFrame.union, [_pipeline(of.plan, session, of.schema, shared=Together(of)) for of in plans])


def spark_changing(shared: SharedPlan, session: SparkSession | None, folder: str) -> DataFrame:
    """The results of queries that come and go, as files in a folder say: blobs of rows, each named by its query."""
    return _pipeline(shared.plan, session, shared.schema, shared=Together(shared, folder))


@dataclass(frozen=True)
class Together:
    """Queries that share an operator, and the folder that tells of others while it runs."""

    plan: SharedPlan
    changes: str | None = None


def _pipeline(
    plan: Plan,
    session: SparkSession | None,
    rows: pa.Schema,
    diverts: bool = False,
    relays_us: int | None = None,
    shared: Together | None = None,
    outputs: Outputs = output_of,
    snapshot: bytes | None = None,
) -> DataFrame:
    query = plan.query
    session = session or session_of(query)
    check_session(session)
    if any(holds_binary(s.schema.field(name).type) for s in query.streams for name in plan.columns[s.name]):
        count_bytes(session)
    inputs = {s.name: _as_frame(session, s) for s in query.streams if not isinstance(s.data, Source)}
    flows = {stream.name: _flows(stream, inputs) for stream in query.streams}
    if not any(flows.values()):
        start_coordinator(session)
    together = None if shared is None else shared.plan
    layouts = _layouts(query, planned_partitions(session), together, not any(flows.values()))
    kept = (_operator_plan(plan) if shared is None else plan).columns
    run = uuid4().hex
    changes = None if shared is None else shared.changes
    one_machine = shares_files(session)
    packers = _packers(plan, kept, layouts.plan(), changes is not None, run if one_machine else None)
    packed = {name: _packed(inputs[name], packers[name], layouts, run) for name in sorted(inputs)}
    streaming, static = (
        [frame for name, frame in packed.items() if flows[name] is flowing] for flowing in (True, False)
    )
    for flowing, frames in ((True, streaming), (False, static)):
        own = [s for s in query.streams if isinstance(s.data, Source) and flows[s.name] is flowing]
        alone = shared is None and snapshot is None and len(own) == len(query.streams)
        split, windows = flowing and alone and _split_keys(own, layouts), _unread(query, own) if alone else {}
        frames += [packed_frame(session, own, packers, layouts, run, split, windows)] if own else []
    if changes is not None:
        streaming = _changing(streaming, session, changes, layouts)
    if streaming and needs_clock(query):
        streaming = _ticking(streaming, layouts)
    ended = tuple(name for name, flowing in flows.items() if not flowing)
    guarded = next((name for name in ended if streaming and query.stream(name).ahead_us is not None), None)
    if guarded is not None:
        raise PlanError(f"stream {guarded!r} is a table, known before the streams begin; leave out its ahead=")
    job = _job_over(plan, layouts, ended, run, together)
    ordered = _sorts(query, layouts.plan().grid, shared is not None)
    output = outputs(rows, ordered) if changes is None else NamedBlobs()
    initial = reduce(DataFrame.union, static) if streaming and static else None
    if snapshot is not None:
        if static or asked_tree(query) is not None:
            raise PlanError("spark(snapshot=...) is for queries of one operator whose inputs are all streams")
        initial = dealt(session, parts_of(snapshot, plan, job.plan, layouts.plan()), layouts.plan())
    job = replace(job, diverts=diverts, relays_us=relays_us, changes=changes is not None, leaves_files=one_machine)
    joined = _joined(reduce(DataFrame.union, streaming or static), initial, job, output)
    return _marked(joined, inputs.values())


def _marked(rows: DataFrame, inputs: Iterable[DataFrame]) -> DataFrame:
    """Results whose time is known to Spark as event time if that of an input is.

    Spark's watermark goes with the inputs through the operator, and it refuses to set another behind it. Results are
    never older, as long as its delay is no shorter than the streams' own.
    """
    delays = [field.metadata[EVENT_TIME] for frame in inputs for field in frame.schema if EVENT_TIME in field.metadata]
    if not delays or "result_time" not in rows.columns:
        return rows
    return rows.withMetadata("result_time", {EVENT_TIME: max(delays)})


def _sorts(query: JoinQuery, grid: Grid, shared: bool) -> bool:
    """Whether rows need a last step to be in order: those of one query in one bucket leave the operator in order."""
    return query.order != "none" and (grid.cells > 1 or shared)


def session_of(query: JoinQuery) -> SparkSession:
    """The session of the query's DataFrames; the active one if it has none but reads its sources itself."""
    for stream in query.streams:
        if isinstance(stream.data, DataFrame):
            return stream.data.sparkSession
    active = SparkSession.getActiveSession()
    if active is not None and any(isinstance(stream.data, Source) for stream in query.streams):
        return active
    raise PlanError("spark(): no stream has a Spark DataFrame; pass session=, or run it with local() or collect()")


def _flows(stream: Stream, inputs: Mapping[str, DataFrame]) -> bool:
    """Whether a stream goes on, or is a table that is known whole."""
    return not stream.data.static if isinstance(stream.data, Source) else inputs[stream.name].isStreaming


def _split_keys(streams: Sequence[Stream], layouts: Layouts) -> bool:
    """Whether hot keys may be split: sources must know the times of what they read before they read it."""
    return _tell_times(streams) and splits_keys(layouts.query, layouts.plan().grid)


def _tell_times(streams: Sequence[Stream]) -> bool:
    return all(isinstance(stream.data, Files) and stream.data.are_parquet for stream in streams)


def _unread(query: JoinQuery, streams: Sequence[Stream]) -> dict[str, int]:
    """The windows by which rows are known that need not be read; all streams must tell the times of their rows."""
    timed = query.late == "drop" and query.budget is None and all(stream.idle_us is None for stream in streams)
    return leave_unread(query) if _tell_times(streams) and timed else {}


def _as_frame(session: SparkSession, stream: Stream) -> DataFrame:
    if stream.data is None:
        raise PlanError(f"spark(): stream {stream.name!r} has no data; give it a DataFrame when you make it")
    if isinstance(stream.data, DataFrame):
        return stream.data
    schema = plain_schema(stream.schema)
    table = pa.table(stream.data).select(schema.names).cast(schema)
    table = table if table.num_rows else schema.empty_table()  # no chunk at all is too few for Spark
    return session.createDataFrame(table, spark_schema(schema))


def _own_filters(query: JoinQuery, name: str) -> bool:
    """Whether packers may apply the stream's own conditions: nothing else may need the rows that fail them."""
    stream = query.stream(name)
    counted_whole = not isinstance(stream.window, TimeWindow) or stream.dedup is not None
    return query.how == "inner" and query.late != "divert" and not counted_whole


def _packers(
    plan: Plan, kept: Mapping[str, tuple[str, ...]], layout: Layout, whole: bool, leaves_files: str | None
) -> dict[str, Packer]:
    """One per stream; they send ``whole`` rows, and all, where queries may come that want them."""
    query, grid, numbers = plan.query, layout.grid, layout.numbers
    packers = {}
    for position, stream in enumerate(query.streams):
        filters = tuple(e for name, e in query.filters if name == stream.name and _own_filters(query, name))
        bare = replace(stream, data=None)
        arriving, stored = plan.columns[stream.name], kept[stream.name]
        if whole:
            filters, arriving, stored = (), tuple(stream.schema.names), tuple(stream.schema.names)
        keep = query.late == "divert"
        gap_us = smallest_ahead(query.streams)
        packer = Packer(bare, position, arriving, stored, filters, grid, numbers, keep, gap_us)
        packers[stream.name] = replace(packer, tells_loads=query.budget is not None, leaves_files=leaves_files)
    return packers


def _operator_plan(plan: Plan) -> Plan:
    """The plan that is left once packers have applied the filters they may; it holds no DataFrame."""
    query = plan.query
    filters = tuple((name, condition) for name, condition in query.filters if not _own_filters(query, name))
    return plan_query(replace(_bare(query), filters=filters))


def _bare(query: JoinQuery) -> JoinQuery:
    """The query without its DataFrames, which do not travel."""
    return replace(query, streams=tuple(replace(stream, data=None) for stream in query.streams))


def _packed(frame: DataFrame, packer: Packer, layouts: Layouts, run: str) -> DataFrame:
    def pack(batches: Any) -> Any:
        here = layouts.here()
        return replace(packer, grid=here.grid, numbers=here.numbers)(batches)

    packed = _read_by(packer, frame).mapInArrow(pack, spark_schema(PACKED))
    name, spent = F.lit(packer.stream.name), F.sum("pack_us").alias("pack_us")
    return packed.observe(f"{PACKING}{packer.position}-{run}", spent, F.max(name).alias("stream")).select(*SHUFFLED)


def _read_by(packer: Packer, frame: DataFrame) -> DataFrame:
    paths = [path_of(packer.stream.schema.field(name)) for name in packer.arriving]
    return frame.select(*(F.col(".".join(map(quoted, path))).alias(f"c{at}") for at, path in enumerate(paths)))


def dealt_out(plan: Plan, job: Job, name: str, frame: DataFrame) -> DataFrame:
    """Rows of a stream at rest, packed for the buckets of a job."""
    packer = _packers(plan, job.plan.columns, job.layouts.plan(), False, None)[name]

    def pack(batches: Any) -> Any:
        return packer(batches)

    return _read_by(packer, frame).mapInArrow(pack, spark_schema(PACKED))


def _ticking(streaming: Sequence[DataFrame], layouts: Layouts) -> list[DataFrame]:
    """The packed streams with the time of their batch, and a clock that causes a batch if nothing else does."""

    def pack(batches: Any) -> Any:
        return ticks(batches, layouts.here().numbers)

    ticking = clock(streaming[0].sparkSession).mapInArrow(pack, spark_schema(PACKED)).select(*SHUFFLED)
    return [frame.withColumn("now", F.unix_micros(F.current_timestamp())) for frame in (*streaming, ticking)]


def _layouts(query: JoinQuery, partitions: int, shared: SharedPlan | None, finite: bool = False) -> Layouts:
    along = None if shared is None else own_axes(shared.members[0].query)
    return Layouts(_bare(query), partitions, shared is not None, finite, along)


def job_of(plan: Plan, partitions: int, run: str, shared: SharedPlan | None = None) -> Job:
    """The job of a streaming query whose state has so many partitions."""
    return _job_over(plan, _layouts(plan.query, partitions, shared), (), run, shared)


def _job_over(plan: Plan, layouts: Layouts, ended: tuple[str, ...], run: str, shared: SharedPlan | None) -> Job:
    if shared is not None:
        return _shared_job(shared, shared_identity(plan.query), layouts, ended, run)
    return _job(plan, identity(plan.query, _operator_plan(plan).columns), layouts, ended, run)


def _changing(streaming: Sequence[DataFrame], session: SparkSession, folder: str, layouts: Layouts) -> list[DataFrame]:
    """The packed streams, and sets of queries as packed rows, one for every bucket."""
    if not streaming:
        raise PlanError("write(changes=True): every input is a table, which is joined in one batch; leave it out")

    def pack(batches: Any) -> Any:
        return query_sets(batches, layouts.here().numbers)

    return [*streaming, session.readStream.text(folder).mapInArrow(pack, spark_schema(PACKED)).select(*SHUFFLED)]


def _job(plan: Plan, identity: Identity, layouts: Layouts, ended: tuple[str, ...], run: str) -> Job:
    once = len(ended) == len(plan.query.streams)
    return Job(_operator_plan(plan), identity, layouts, run, () if once else ended, once)


def _shared_job(shared: SharedPlan, identity: Identity, layouts: Layouts, ended: tuple[str, ...], run: str) -> Job:
    """Its doors look at the common conditions once more: which ones they were is part of what is stored."""
    members = tuple(replace(member, query=_bare(member.query)) for member in shared.members)
    plan = plan_query(_bare(shared.plan.query))
    job = _job(plan, identity, layouts, ended, run)
    return replace(job, plan=plan, shared=replace(shared, plan=plan, members=members))


def _joined(rows: DataFrame, initial: DataFrame | None, job: Job, output: Output) -> DataFrame:
    before = None if initial is None else initial.groupBy("bucket")
    joined = stateful(rows, "bucket").transformWithStateInPandas(
        JoinProcessor(job, output), output.given, "Append", "None", initialState=before
    )
    return output.results(joined.observe(f"{OBSERVATION}{job.run}", F.collect_list(REPORT).alias(REPORTS)))
