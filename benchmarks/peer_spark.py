"""The pipelines that Spark runs: Dovetail, Spark's own joins, and no join at all.

    files       query.write(): files read and results written by Dovetail itself, as Parquet
    dovetail    query.spark(): DataFrames in and out
    native      Spark's own stream-stream join, state in memory or in RocksDB; three streams are two joins in a row
    floor       read the files, hand every row to Python as Arrow, and take it back
    one way     the same without taking rows back

All but the first drop their results. They start with the settings of Dovetail's sessions; ``plain`` ones with Spark's
own wherever a running session lets them be changed. Joins observe their results, so that counts and checksums come with
Spark's progress reports; of those in files they are taken from the files.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

import dovetail as dv
from benchmarks.checksum import spark_hash
from benchmarks.workloads import Workload
from dovetail.runtime.spark.session import BYTES, CHECKPOINT_FILES, CHECKSUMS, PROVIDER, RECORDS, ROCKSDB
from dovetail.runtime.spark.types import spark_schema

IN_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
CHECK = "check"


@dataclass(frozen=True)
class Pipeline:
    """``kind`` is one of the above; ``options`` are those of ``dv.join``.

    With ``arrivals`` rows carry when they came; if ``observed``, results are counted and summed; ``plain`` as above.
    """

    kind: str
    rocksdb: bool = True
    files: int = 2
    arrivals: bool = False
    observed: bool = True
    plain: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        state = {"native": ", RocksDB" if self.rocksdb else ", state in memory"}.get(self.kind, "")
        plain = " on plain Spark" if self.plain else ""
        return ", ".join([self.kind + plain + state, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def settings(self) -> dict[str, str]:
        return {PROVIDER: ROCKSDB if self.rocksdb else IN_MEMORY, "spark.driver.memory": "8g"}


def started(
    pipeline: Pipeline, session: SparkSession, workload: Workload, folder: Path, checkpoint: Path, **trigger: bool
) -> StreamingQuery:
    """The pipeline, running into a sink that drops rows, or into files beside its checkpoint."""
    if pipeline.kind == "files":
        data = {name: dv.files(folder / name, max_files=pipeline.files) for name in workload.tables}
        query, sink = workload.query(dict(data), **pipeline.options), dv.parquet(results_of(checkpoint))
        return query.write(sink, str(checkpoint), trigger=trigger, session=session)  # type: ignore[no-any-return]
    writer = frame_of(pipeline, session, workload, folder).writeStream.format("noop")
    writer = writer.option("checkpointLocation", str(checkpoint))
    writer = writer.trigger(**trigger) if trigger else writer
    with plain_settings(session) if pipeline.plain else nullcontext():
        return writer.start()


def results_of(checkpoint: Path) -> Path:
    """Where a pipeline that writes files has its results."""
    return checkpoint / "results"


@contextmanager
def plain_settings(session: SparkSession) -> Iterator[None]:
    """Without what Dovetail sets; a query keeps for good what was set when it started."""
    ours = {name: str(session.conf.get(name)) for name in (RECORDS, BYTES, CHECKPOINT_FILES, CHECKSUMS)}
    for name in ours:
        session.conf.unset(name)
    try:
        yield
    finally:
        for name, value in ours.items():
            session.conf.set(name, value)


def frame_of(pipeline: Pipeline, session: SparkSession, workload: Workload, folder: Path) -> DataFrame:
    """The pipeline as a streaming DataFrame."""
    sources = {name: _source(pipeline, session, workload, folder / name) for name in workload.tables}
    if pipeline.kind in ("floor", "one way"):
        return _handed_over(list(sources.values()), pipeline.kind == "floor")
    if pipeline.kind == "dovetail":
        joined = workload.query(dict(sources), **pipeline.options).spark(session)
    else:
        joined = _native(workload, sources)
    return _observed(joined, workload, pipeline.arrivals) if pipeline.observed else joined


def _source(pipeline: Pipeline, session: SparkSession, workload: Workload, folder: Path) -> DataFrame:
    reader = session.readStream.option("maxFilesPerTrigger", pipeline.files)
    return reader.schema(spark_schema(next(iter(workload.tables.values())).schema)).parquet(str(folder))


def _handed_over(sources: list[DataFrame], back: bool) -> DataFrame:
    schema = sources[0].schema if back else "rows long"
    return reduce(DataFrame.union, [source.mapInArrow(_same if back else _counted, schema) for source in sources])


def _same(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": pa.array([batch.num_rows])})


def _native(workload: Workload, sources: dict[str, DataFrame]) -> DataFrame:
    """The same condition; Spark wants a watermark on each stream, and on each pair the range of times between them.

    What is joined once more may have one event-time column only, so a middle stream carries its time on as a number.
    """
    delay, names = f"{workload.delay_us} microseconds", list(sources)
    middle, how = names[1:-1], "inner" if workload.how == "inner" else "leftOuter"
    marked = {name: source.withWatermark("ts", delay) for name, source in sources.items()}
    marked |= {name: marked[name].withColumn("us", F.expr("unix_micros(ts)")) for name in middle}
    joined = marked[names[0]].alias(names[0])
    for position, name in enumerate(names[1:], 1):
        condition = F.expr(_condition(workload, names[:position], name))
        joined = joined.join(marked[name].alias(name), condition, how)
        joined = joined.drop(F.col(f"{name}.ts")) if name in middle else joined
    newest = ", ".join(f"{name}.ts" for name in names)
    return joined.selectExpr(
        *(_carried(item, middle) for item in (f"greatest({newest}) AS result_time", *workload.select))
    )


def _carried(item: str, middle: list[str]) -> str:
    for name in middle:
        item = item.replace(f"{name}.ts", f"timestamp_micros({name}.us)")
    return item


def _condition(workload: Workload, joined: list[str], name: str) -> str:
    """What ties one more stream to those already joined: its predicates, and the window to each of them."""
    width, own = workload.window_us, workload.conditions_on(name, joined)
    own += [f"{name}.ts >= {joined[0]}.ts - INTERVAL {width} MICROSECONDS"]
    own += [f"{name}.ts <= {joined[0]}.ts + INTERVAL {width} MICROSECONDS"]
    if workload.how == "inner":  # else a middle stream may be missing, and the first bounds all times
        own += [f"unix_micros({name}.ts) - {other}.us BETWEEN -{width} AND {width}" for other in joined[1:]]
    return " AND ".join(own)


def _observed(joined: DataFrame, workload: Workload, arrivals: bool) -> DataFrame:
    """Each batch reports how many results it gave, their checksum, and when the rows behind them came."""
    hashed = F.expr(spark_hash(workload.checked, workload.times))
    metrics = [F.count(F.lit(1)).alias("rows"), F.sum(hashed).alias("total")]
    if arrivals:
        metrics += [F.avg("arrived").alias("mean"), F.min("arrived").alias("first")]
    return joined.observe(CHECK, *metrics)
