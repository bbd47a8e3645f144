"""Hot keys on Spark: split in the batch that brings them, remembered over restarts and migrations, taken back."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.runtime.spark import pipeline
from dovetail.runtime.spark.blob import from_blob
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.source.source import HOT, StreamReader
from dovetail.runtime.spark.source.work import Input, options_of
from dovetail.testing import Push, assert_same_rows, play_event
from tests.spark.feeding import Folder
from tests.spark.queries import build, random_rows

ROWS = 3_000
ON = "A.k = B.k AND ABS(A.n - B.n) <= 1"


def batch(number: int, hot: bool) -> Push:
    """Two seconds of both streams; of a hot one, two rows of three have the same key."""
    held = {}
    for place, name in enumerate("AB"):
        rows = random_rows(10 * number + place, ROWS, 2 * number, 2, ROWS * number)
        dice = np.random.default_rng(number + place)
        keys = np.where(hot & (dice.random(ROWS) < 0.66), 7, dice.integers(100, 1_100, ROWS))
        held[name] = rows.set_column(1, "k", pa.array(keys)).set_column(4, "n", pa.array(dice.integers(0, 2_000, ROWS)))
    return Push(held)


def keys_of(checkpoint: Path) -> dict[int, list[dict[str, Any]]]:
    """The hot keys of every batch that was planned."""
    logs = sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda log: int(log.name))
    return {int(log.name): json.loads(log.read_text().splitlines()[2])[HOT]["keys"] for log in logs}


def query_over(folder: Folder, how: str, partitions: int) -> dv.Query:
    data = {name: dv.files(folder.path / name, max_files=1) for name in "AB"}
    return build(ON, data, window="1 second", delay="2 seconds", how=how, partitions=partitions)


def expected(query: dv.Query, batches: list[Push]) -> pa.Table:
    run = query.local()
    return pa.concat_tables([play_event(run, some) for some in batches])


def test_keys_are_split_over_restarts_and_partitions(spark: Any, tmp_path: Path) -> None:
    if spark_version(spark.version) < (4, 2):
        pytest.skip("before Spark 4.2 a source is not told where a batch starts, and splits nothing")
    folder = Folder(spark, tmp_path, "AB")
    batches = [batch(number, hot=number not in (3, 4)) for number in range(8)]
    old, new = (query_over(folder, "left", partitions) for partitions in (4, 6))
    for some in (batches[:2], batches[2:4]):
        folder.feed(some)
        folder.run(old.spark(spark))
    found = keys_of(tmp_path / "checkpoint")
    assert [len(found[number]) for number in range(3)] == [1, 1, 1]
    assert found[0][0]["width"] >= 2
    new.migrate(str(tmp_path / "checkpoint"), str(tmp_path / "wider"), of=old, session=spark)
    assert set(map(len, keys_of(tmp_path / "wider").values())) == {0}
    folder.feed(batches[4:])
    writing = new.spark(spark).writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writing.option("checkpointLocation", str(tmp_path / "wider")).trigger(availableNow=True).start().awaitTermination()
    assert any(keys_of(tmp_path / "wider").values()), "they are found again"
    rows = spark.read.schema(new.spark(spark).schema).parquet(str(tmp_path / "out")).toArrow().cast(new.schema)
    wanted = expected(new, batches)
    assert wanted.num_rows > 10_000
    assert_same_rows(rows, wanted)


def reader_over(folder: Path, splits: bool = True, **options: Any) -> StreamReader:
    """The source of a query over files in four cells, as Spark makes it."""
    data = {name: dv.files(folder / name, max_files=1) for name in "AB"}
    plan = build(ON, data, window="1 second", delay="2 seconds", how="left", **options).plan
    layouts = Layouts(pipeline._bare(plan.query), 4)
    packers = pipeline._packers(plan, pipeline._operator_plan(plan).columns, layouts.plan(), False, None)
    inputs = tuple(
        Input(s.name, s.data, s.schema, packers[s.name].arriving, s.time, s.delay_us) for s in plan.query.streams
    )
    return StreamReader(options_of(inputs, packers, layouts, 2, splits))


def copies(reader: StreamReader, start: Any, end: Any) -> dict[str, int]:
    """How often the rows of a batch are sent, stream by stream."""
    sent = dict.fromkeys("AB", 0)
    for task in reader.partitions(start, end):
        for packed in reader.read(task):
            for row in packed.to_pylist():
                blobs = [] if row["blob"] is None else from_blob(row["blob"], ("ts", "k", "n", "row"))
                sent["AB"[row["stream"]]] += sum(part.num_rows for part in blobs)
    return sent


def test_a_position_says_which_keys_its_batch_splits(tmp_path: Path) -> None:
    folder = Folder(None, tmp_path, "AB")
    folder.feed([batch(number, hot=number < 2) for number in range(7)])
    reader = reader_over(tmp_path)
    positions = [reader.initialOffset()]
    for _ in range(7):
        positions.append(json.loads(json.dumps(reader_over(tmp_path).latestOffset(positions[-1]))))
    keys = [position[HOT]["keys"] for position in positions]
    running = [[key["end_us"] is None for key in each] for each in keys]
    assert running == [[], *[[True]] * 4, [False], [False], []]
    sent = [copies(reader, *pair) for pair in pairwise(positions)]
    assert [each["A"] for each in sent] == [ROWS] * 7, "rows of the preserved stream go to one bucket each"
    assert all(each["B"] > 1.5 * ROWS for each in sent[:2])
    assert sent[-1]["B"] == ROWS
    assert [copies(reader, *pair) for pair in pairwise(positions)] == sent


def test_times_that_footers_do_not_tell_freeze_the_keys(tmp_path: Path) -> None:
    folder = Folder(None, tmp_path, "AB")
    folder.feed([batch(0, hot=True)])
    reader = reader_over(tmp_path)
    positions = [reader.latestOffset(reader.initialOffset())]
    for number in range(1, 6):
        for name in "AB":
            rows = batch(number, hot=False).batch[name]
            pq.write_table(rows, tmp_path / name / f"{number + 1:04}.parquet", write_statistics=number != 1)
        positions.append(reader.latestOffset(positions[-1]))
    assert [each[HOT]["newest"] is None for each in positions] == [False, *[True] * 5]
    assert all(each[HOT]["keys"] == positions[1][HOT]["keys"] != [] for each in positions[1:])


def test_a_query_that_may_no_longer_split_goes_on_with_what_is_split(tmp_path: Path) -> None:
    """Spark's checkpoint does not belong to a budget: it may be given at any start."""
    folder = Folder(None, tmp_path, "AB")
    folder.feed([batch(number, hot=True) for number in range(2)])
    reader = reader_over(tmp_path)
    first = reader.latestOffset(reader.initialOffset())
    budgeted = reader_over(tmp_path, splits=False, budget=dv.budget(memory=dv.tuples(10**6), policy="spill"))
    second = budgeted.latestOffset(first)
    assert second[HOT] == first[HOT] | {"newest": None}
    assert copies(budgeted, first, second) == copies(reader, first, second)
    assert copies(budgeted, first, second)["B"] > 1.5 * ROWS
    assert HOT not in budgeted.initialOffset()
