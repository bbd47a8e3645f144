"""How a combination of features is run, embedded and on Spark, and what it then shows."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import dovetail as dv
from dovetail.api.shared_query import SharedQuery
from dovetail.runtime.local import Run
from dovetail.runtime.shared import SharedRun
from dovetail.testing import Script, oracle, play
from dovetail.testing.oracle import Outcome

SECOND = 1_000_000
CAPACITY = 400  # comparisons per second of the made-up CPU: half of it is too little for a few dozen rows per second
ENDS_WITHIN_S = 600  # a run of all there is on a busy machine takes seconds


@dataclass(frozen=True)
class Shown:
    """What one query gave, what it says of its completeness, and how many late rows it handed over (None: nothing)."""

    query: dv.Query
    rows: pa.Table
    script: Script
    told: Mapping[str, float] | None = None
    late: int | None = None

    @cached_property
    def outcome(self) -> Outcome:
        """What it must give."""
        return oracle(self.query.model, self.script)

    @property
    def held(self) -> bool:
        """Whether the truth is in the band that is told."""
        assert self.told is not None
        share = self.rows.num_rows / self.outcome.rows.num_rows if self.outcome.rows.num_rows else 1.0
        return self.told["completeness_low"] <= share <= self.told["completeness_high"]


class MadeUpCpu:
    """A meter of CPU time that goes on with the comparisons of a run, so that all machines are equally fast."""

    run: Run | None = None

    def __call__(self) -> float:
        parts = self.run.operator.statistics() if self.run is not None else ()
        return sum(float(each.shedding.counts["compared"]) for each in parts if each.shedding is not None) / CAPACITY


def embedded(queries: Sequence[dv.Query], shared: SharedQuery | None, script: Script) -> list[Shown]:
    """In this process; where CPU is short, on a made-up one."""
    cpu, budget = MadeUpCpu(), queries[0].model.budget
    if budget is not None and budget.cpu is not None:
        cpu.run = run = SharedRun(shared.groups, meter=cpu) if shared else Run(queries[0].plan, meter=cpu)
    else:
        run = (shared or queries[0]).local()
    rows, metrics = play(run, script), run.metrics()
    if shared is not None:
        return [Shown(each, _of(rows, each), script, metrics["queries"][each.name]) for each in queries]
    told = metrics.get("budget") or metrics.get("memory")
    return [Shown(queries[0], rows, script, told, run.late["reason"].to_pylist().count("late"))]


def at_rest(queries: Sequence[dv.Query], shared: SharedQuery | None, frame: Any, script: Script) -> list[Shown]:
    """On Spark, tables in one batch."""
    rows = frame.toArrow().cast((shared or queries[0]).schema)
    return [Shown(each, _of(rows, each) if shared else rows, script) for each in queries]


def streamed(
    queries: Sequence[dv.Query], shared: SharedQuery | None, frame: Any, script: Script, folder: Path
) -> list[Shown]:
    """On Spark, all there is in the streams of a folder, batch by batch, and then what is still held."""
    session, checkpoint, now = frame.sparkSession, str(folder / "checkpoint"), {"availableNow": True}
    takers = {str(each.name): Taker(each) for each in queries}
    if shared is not None:
        _ended(shared.write(takers, checkpoint, trigger=now, session=session))
        shared.finish(takers, checkpoint, session)
        return [Shown(each, takers[str(each.name)].rows, script) for each in queries]
    (query,), (taker,) = queries, takers.values()
    writer = frame.writeStream.foreachBatch(taker).option("checkpointLocation", checkpoint).trigger(**now)
    metrics = dv.spark_metrics(_ended(writer.start()))
    taker(query.finish(checkpoint, session=session))
    return [Shown(query, taker.rows, script, metrics[-1].get("budget"))]


class Taker:
    """A sink that keeps rows in the order in which they came."""

    def __init__(self, query: dv.Query) -> None:
        self.rows = query.schema.empty_table()

    def __call__(self, rows: Any, batch: int = 0) -> None:
        self.rows = pa.concat_tables([self.rows, rows.toArrow().cast(self.rows.schema)])


def _ended(started: Any) -> Any:
    assert started.awaitTermination(ENDS_WITHIN_S), "all that was there has been read, and the query still runs"
    return started


def read_from(spark: Any, folder: Path, batches: Sequence[pa.Table]) -> Any:
    """A stream of files, one for each micro-batch; Spark reads them in the order of their age."""
    from dovetail.runtime.spark.types import spark_schema

    folder.mkdir(parents=True)
    for at, rows in enumerate(batches):
        file = folder / f"{at:04}.parquet"
        pq.write_table(rows, file)
        os.utime(file, (10**9 + at, 10**9 + at))
    reader = spark.readStream.option("maxFilesPerTrigger", 1).schema(spark_schema(batches[0].schema))
    return reader.parquet(str(folder))


def _of(together: pa.Table, query: dv.Query) -> pa.Table:
    """One query's rows among those of all."""
    return together.filter(pc.equal(together["query"], query.name)).select(query.schema.names)
