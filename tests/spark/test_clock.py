"""Queries that look at the clock: they come to an end when all has been read, and go on while something may wait."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.admit.watermarks import Watermarks
from dovetail.runtime.spark.clock import needs_clock
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder
from tests.spark.queries import bare, random_rows

SECOND = 1_000_000
ENDS_WITHIN_S = 600


def run_all_there_is(folder: Folder, frame: Any, trigger: str = "availableNow") -> Any:
    """Spark's ``availableNow`` or ``once``, from the checkpoint; an assertion if it does not end."""
    writer = frame.writeStream.format("parquet").option("path", str(folder.path / "out"))
    writer = writer.option("checkpointLocation", str(folder.path / "checkpoint"))
    started = writer.trigger(**{trigger: True}).start()
    ended = started.awaitTermination(ENDS_WITHIN_S)
    started.stop()
    assert ended, "all that was there has been read, and the query still runs"
    return started


def test_a_run_of_all_there_is_ends_though_a_stream_may_fall_silent(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    tables = {name: random_rows(seed, 40) for seed, name in enumerate("AB")}
    folder.feed([Push(tables), Push({"A": random_rows(2, 10, 600, 1, first_row=9000)})])

    def query() -> dv.Query:
        streams = [
            dv.stream(name, frame, time="ts", window="4 seconds", delay="3 seconds", idle="1 second")
            for name, frame in folder.frames().items()
        ]
        return dv.join(*streams, on="A.k = B.k", select="A.row AS a, B.row AS b", order="hold", partitions=2)

    first = run_all_there_is(folder, query().spark())
    assert len(first.recentProgress) < 6
    while not folder.rows(query()).num_rows:
        run_all_there_is(folder, query().spark())
    assert_same_rows(folder.rows(query()), oracle(query().model, [Push(tables)]).rows)


@pytest.mark.parametrize(
    ("idle", "budget", "needed"),
    [
        (None, None, False),
        ("20 seconds", None, True),
        (None, dv.budget(cpu=0.5), True),
        (None, dv.budget(memory=dv.tuples(9)), False),
        (None, dv.budget(memory=dv.tuples(9), policy="spill"), True),
    ],
)
def test_who_needs_a_clock(idle: str | None, budget: Any, needed: bool) -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    streams = [dv.stream(name, time="ts", window="1 second", schema=schema, idle=idle) for name in "AB"]
    assert needs_clock(dv.join(*streams, on="A.k = B.k", budget=budget).model) is needed


def test_the_time_matters_only_while_a_silent_stream_is_behind() -> None:
    streams = bare("A.k = B.k", "AB").model.streams
    marks = Watermarks([dv.stream("A", time="ts", schema=streams[0].schema, idle="5 seconds"), streams[1]])
    marks.saw("A", 10 * SECOND)
    marks.saw("B", 20 * SECOND)
    assert marks.awaits(0), "nobody has told the time yet"
    marks.tick(0)
    assert not marks.awaits(5 * SECOND)
    assert marks.awaits(6 * SECOND)
    marks.tick(6 * SECOND)
    assert not marks.awaits(60 * SECOND), "both are at the same time"
