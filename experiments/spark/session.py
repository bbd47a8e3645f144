"""Queries on a Spark session: streams as files, one of each per micro-batch, and what every batch reports.

The pipeline is the product's own. Two things may be arranged: the ``Job`` that its workers are given (``jobs``), and
the clock, which then goes by the event time of the batch and not by the time of day, so that nothing depends on how
quick this machine is.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import dovetail as dv
from dovetail.runtime.spark import pipeline
from dovetail.runtime.spark.operator import Job
from dovetail.runtime.spark.session import spark_session
from dovetail.runtime.spark.types import spark_schema

Batch = Mapping[str, pa.Table]
Frames = Mapping[str, DataFrame]
Reports = list[dict[str, Any]]
_REMEMBERED = 10_000  # batches whose progress Spark keeps: more than any figure has
_SECOND = 1_000_000


@cache
def session() -> SparkSession:
    """The one session of all figures, on two cores."""
    remembered = {"spark.sql.streaming.numRecentProgressUpdates": str(_REMEMBERED)}
    return spark_session(cores=2, name="dovetail papers", settings=remembered)


def fed(query: dv.Query, frames: Frames) -> dv.Query:
    """The query over these frames."""
    streams = tuple(replace(stream, data=frames[stream.name]) for stream in query.model.streams)
    return replace(query, model=replace(query.model, streams=streams))


def played(
    made: Callable[[Frames], dv.Query | dv.SharedQuery],
    batches: Sequence[Batch],
    job: Callable[..., Job] = Job,
    step_s: float | None = None,
) -> list[Reports]:
    """What every bucket reports of every micro-batch; ``step_s``: how long each is, for queries with a clock."""
    with TemporaryDirectory() as folder, _arranged(job, step_s):
        for name in batches[0]:
            _write(Path(folder) / name, [batch[name] for batch in batches])
        frames = {name: _frame(Path(folder) / name, batches[0][name].schema) for name in batches[0]}
        writer = made(frames).spark(session()).writeStream.format("noop")
        started = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
        started.awaitTermination()
        found = {batch["batch"]: batch["buckets"] for batch in dv.spark_metrics(started)}
    return [found.get(number, []) for number in range(len(batches))]


def cut(streams: Mapping[str, pa.Table], ends_s: Sequence[float]) -> list[Batch]:
    """Streams, sorted by ``ts``, cut at these moments."""
    ends = [round(end * _SECOND) for end in ends_s]
    places = {name: [0, *np.searchsorted(_times(rows), ends).tolist()] for name, rows in streams.items()}
    return [
        {name: rows.slice(at[number], at[number + 1] - at[number]) for (name, rows), at in _both(streams, places)}
        for number in range(len(ends))
    ]


def _both(streams: Mapping[str, pa.Table], places: Mapping[str, list[int]]) -> Iterator[tuple[Any, list[int]]]:
    return ((item, places[item[0]]) for item in streams.items())


def _times(rows: pa.Table) -> np.ndarray:
    times: np.ndarray = rows["ts"].cast(pa.int64()).to_numpy()
    return times


def _write(folder: Path, parts: Sequence[pa.Table]) -> None:
    """A file each; Spark reads them in the order of their age."""
    folder.mkdir()
    for number, rows in enumerate(parts):
        file = folder / f"{number:05}.parquet"
        pq.write_table(rows, file)
        os.utime(file, (10**9 + number, 10**9 + number))


def _frame(folder: Path, schema: pa.Schema) -> DataFrame:
    reader = session().readStream.option("maxFilesPerTrigger", 1)
    return reader.schema(spark_schema(schema)).parquet(str(folder))


@contextmanager
def _arranged(job: Callable[..., Job], step_s: float | None) -> Iterator[None]:
    """Workers get this job, and it is as late as the batch's event times say; without a step there is no clock."""

    def ticking(streaming: Sequence[DataFrame], layouts: object) -> list[DataFrame]:
        if step_s is None:
            return list(streaming)
        step = round(step_s * _SECOND)
        now = ((F.floor(F.col("newest") / step) + 1) * step).cast("long")
        return [frame.withColumn("now", now) for frame in streaming]

    with patch.object(pipeline, "Job", job), patch.object(pipeline, "_ticking", ticking):
        yield
