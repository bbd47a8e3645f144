"""The pipelines that Spark runs: Dovetail, Spark's own joins, and no join at all.

    dovetail    query.spark()
    native      Spark's own stream-stream join, state in memory or in RocksDB; three streams are two joins in a row
    floor       read the files, hand every row to Python as Arrow, and take it back
    one way     the same without taking rows back

Every pipeline observes its results, so that counts and checksums come with Spark's progress reports.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.checksum import spark_hash
from benchmarks.workloads import Workload
from dovetail.runtime.spark.session import PROVIDER, ROCKSDB
from dovetail.runtime.spark.types import spark_schema

IN_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
CHECK = "check"
STREAM = re.compile(r"([A-Z])\.")


@dataclass(frozen=True)
class Pipeline:
    """``kind`` is one of the above; ``options`` are those of ``dv.join``; ``arrivals``: rows carry when they came."""

    kind: str
    rocksdb: bool = True
    files: int = 2
    arrivals: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        state = {"native": ", RocksDB" if self.rocksdb else ", state in memory"}.get(self.kind, "")
        return ", ".join([self.kind + state, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def settings(self) -> dict[str, str]:
        return {PROVIDER: ROCKSDB if self.rocksdb else IN_MEMORY, "spark.driver.memory": "8g"}


def frame_of(pipeline: Pipeline, session: SparkSession, workload: Workload, folder: Path) -> DataFrame:
    """The pipeline as a streaming DataFrame, its results observed."""
    sources = {name: _source(pipeline, session, workload, folder / name) for name in workload.tables}
    if pipeline.kind in ("floor", "one way"):
        return _handed_over(list(sources.values()), pipeline.kind == "floor")
    if pipeline.kind == "dovetail":
        joined = workload.query(dict(sources), **pipeline.options).spark(session)
    else:
        joined = _native(workload, sources)
    return _observed(joined, workload, pipeline.arrivals)


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
    """The same condition; Spark wants a watermark on each stream, and on each pair the range of times between them."""
    delay, names = f"{workload.delay_us} microseconds", list(sources)
    marked = {name: source.withWatermark("ts", delay).alias(name) for name, source in sources.items()}
    joined, how = marked[names[0]], "leftOuter" if workload.how == "left" else "inner"
    for position, name in enumerate(names[1:], 1):
        joined = joined.join(marked[name], F.expr(_condition(workload, names[:position], name)), how)
    newest = ", ".join(f"{name}.ts" for name in names)
    return joined.selectExpr(f"greatest({newest}) AS result_time", *workload.select)


def _condition(workload: Workload, joined: list[str], name: str) -> str:
    """What ties one more stream to those already joined: its predicates, and the window to each of them."""
    width, known = f"INTERVAL {workload.window_us} MICROSECONDS", {*joined, name}
    own = [
        part for part in workload.on.split(" AND ") if name in (named := set(STREAM.findall(part))) and named <= known
    ]
    near = [f"{name}.ts >= {one}.ts - {width} AND {name}.ts <= {one}.ts + {width}" for one in joined]
    return " AND ".join(own + near)


def _observed(joined: DataFrame, workload: Workload, arrivals: bool) -> DataFrame:
    """Each batch reports how many results it gave, their checksum, and when the rows behind them came."""
    hashed = F.expr(spark_hash(workload.checked, workload.times))
    metrics = [F.count(F.lit(1)).alias("rows"), F.sum(hashed).alias("total")]
    if arrivals:
        metrics += [F.avg("arrived").alias("mean"), F.min("arrived").alias("first")]
    return joined.observe(CHECK, *metrics)
