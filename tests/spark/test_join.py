"""What comes out of Spark is what the oracle says, for every shape of the grid and however input is cut."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import CONDITIONS, build


@pytest.mark.parametrize(
    ("case", "buckets"),
    [
        ("one key", 2),
        ("text key and filter", 5),
        ("chain of keys", 5),
        ("band of floats", 2),
        ("chain of bands", 5),
        ("key and band", 1),
        ("any expression", 5),
        ("NULL equal to NULL", 5),
        ("one of two keys", 2),
        ("four streams", 5),
    ],
)
def test_rows_are_the_oracles(spark: Any, tmp_path: Path, case: str, buckets: int) -> None:
    names, on = CONDITIONS[case]
    folder = Folder(spark, tmp_path, names)
    batches = random_batches(names, seed=len(case), batches=3, count=40 if len(names) < 4 else 20)
    folder.feed(batches)
    query = build(on, folder.frames(), partitions=buckets)
    folder.run(query.spark())
    expected = oracle(query.model, batches).rows
    assert expected.num_rows
    assert_same_rows(folder.rows(query), expected)


def test_a_killed_and_a_restarted_run_go_on_where_they_were(spark: Any, tmp_path: Path) -> None:
    names, on = CONDITIONS["chain of keys"]
    folder = Folder(spark, tmp_path, names)
    batches = random_batches(names, seed=5, batches=5)
    for part in (batches[:2], batches[2:3], batches[3:]):
        folder.feed(part)
        query = build(on, folder.frames(), partitions=4)
        folder.run(query.spark())
    assert_same_rows(folder.rows(query), oracle(query.model, batches).rows)


def test_rows_later_than_promised_are_dropped_and_rows_without_a_time_too(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    batches = random_batches("AB", seed=9, batches=4)
    batches = [Push({name: _with_a_null_time(table) for name, table in push.batch.items()}) for push in batches]
    folder.feed(batches)
    query = build("A.k = B.k", folder.frames(), delay="0 seconds")
    folder.run(query.spark())
    expected = oracle(query.model, batches)
    assert expected.late["A"]
    assert_same_rows(folder.rows(query), expected.rows)


def _with_a_null_time(table: pa.Table) -> pa.Table:
    times = table["ts"].to_pylist()
    return table.set_column(0, "ts", pa.array([None, *times[1:]], table.schema.field("ts").type))


@pytest.mark.parametrize("buckets", [1, 4])
def test_static_inputs_give_a_static_result_with_nothing_late(spark: Any, tmp_path: Path, buckets: int) -> None:
    names, on = CONDITIONS["chain of keys"]
    folder = Folder(spark, tmp_path, names)
    batches = random_batches(names, seed=3)
    folder.feed(batches)
    query = build(on, folder.frames(streaming=False), delay="0 seconds", partitions=buckets)
    frame = query.spark()
    assert not frame.isStreaming
    everything = {
        name: pa.concat_tables([push.batch[name] for push in batches if name in push.batch]) for name in names
    }
    assert_same_rows(frame.toArrow().cast(query.schema), oracle(query.model, [Push(everything)]).rows)


def test_a_static_input_is_a_stream_that_has_already_ended(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "ABC")
    batches = random_batches("ABC", seed=4, batches=3)
    folder.feed(batches)
    tables = [push.batch["B"] for push in batches if "B" in push.batch]
    frames = {**folder.frames(), "B": pa.concat_tables(tables)}
    query = build("A.k = B.k AND B.g = C.g", frames, partitions=4)
    folder.run(query.spark())
    first = Push({"B": frames["B"]})
    rest = [Push({name: table for name, table in push.batch.items() if name != "B"}) for push in batches]
    assert_same_rows(folder.rows(query), oracle(query.model, [first, *rest]).rows)


def test_a_stream_may_be_joined_with_itself(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "A")
    batches = random_batches("A", seed=2, batches=2)
    folder.feed(batches)
    query = build("A.k = B.k", {"A": folder.frame("A"), "B": folder.frame("A")})
    folder.run(query.spark())
    both = [Push({"A": push.batch["A"], "B": push.batch["A"]}) for push in batches]
    assert_same_rows(folder.rows(query), oracle(query.model, both).rows)
