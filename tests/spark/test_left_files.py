"""Rows that a packer leaves in a file for the operator of the same machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext

import dovetail as dv
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.runtime.spark.left_files import (
    KEPT,
    LEAST_BYTES,
    LeftLearned,
    LeftSlices,
    batch_folder,
    leave,
    left_folder,
    mapped,
    shares_files,
)
from dovetail.runtime.spark.lineage import Lineage, StateChange
from dovetail.testing import assert_same_rows
from tests.unit.runtime.test_files import write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/elsewhere")
    yield tmp_path
    TaskContext._setTaskContext(None)


def in_batch(number: int | None) -> None:
    context = TaskContext()
    context._localProperties = {"sql.streaming.queryId": "query"}
    if number is not None:
        context._localProperties["streaming.sql.batchId"] = str(number)
    TaskContext._setTaskContext(context)


def folder_of(number: int) -> Path:
    in_batch(number)
    folder = batch_folder()
    assert folder is not None
    return folder


def test_rows_come_back_under_other_names(tmp_path: Path) -> None:
    rows = pa.record_batch({"a": pa.array([1, None, 3, 4]), "b": pa.array(["x", "y", None, "z"])})
    path = leave(rows.slice(1, 2), tmp_path / "file")
    (found,) = mapped(path, ["c", "d"])
    assert found.to_pydict() == {"c": [None, 3], "d": ["y", None]}
    leave(rows.slice(1, 2), tmp_path / "file")
    assert found.to_pydict() == {"c": [None, 3], "d": ["y", None]}, "who reads is not disturbed by another attempt"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_batch_removes_what_the_one_before_left(root: Path) -> None:
    (folder_of(3) / "rows").touch()
    assert (folder_of(3) / "rows").exists(), "another task of the batch, or the batch repeated"
    folder_of(4)
    assert [each.name for each in (root / "dovetail" / "query" / "rows").iterdir()] == ["4"]


def test_no_files_without_a_batch_or_a_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_batch(None)
    assert batch_folder() is None
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(root / "nowhere"))
    in_batch(1)
    assert batch_folder() is None


def test_slices_are_left_under_their_tokens_and_not_for_long(tmp_path: Path) -> None:
    left, lineage = LeftSlices(tmp_path / "slices"), Lineage()
    for number in range(6):
        lineage = lineage.after(StateChange(f"{number - 1}", (("window/A", number),), ()))
        left.leave(f"{number}", [b"one", b"two" * number], lineage)
    assert [blob.to_pybytes() for blob in left.found("5")] == [b"one", b"two" * 5]
    assert left.found("unknown") == []
    assert sorted(file.name for file in (tmp_path / "slices").iterdir()) == ["at-2", "at-3", "at-4", "at-5"]


@pytest.mark.parametrize(
    ("master", "expected"),
    [("local", True), ("local[4]", True), ("local[*, 3]", True), ("local-cluster[2,1,1024]", False), ("yarn", False)],
)
def test_only_sessions_of_one_process_share_files(master: str, expected: bool) -> None:
    class Session:
        class sparkContext:  # noqa: N801
            pass

    Session.sparkContext.master = master  # type: ignore[attr-defined]
    assert shares_files(Session) is expected  # type: ignore[arg-type]
    assert not shares_files(object())  # type: ignore[arg-type]


def test_large_batches_go_by_files_and_small_ones_through_spark(spark: Any, tmp_path: Path) -> None:
    """Two batches of a size that is left in files, and some that are not; results are those of the embedded engine."""
    streams = []
    for name in "AB":
        schema = pa.schema({"ts": pa.timestamp("us", "UTC"), "k": pa.int64(), "x": pa.float64()})
        many = 4 * LEAST_BYTES // 24
        for number, count in enumerate((many, many, *[100] * KEPT)):
            at = range(number * many, number * many + count)
            rows = pa.table({"ts": [each * 1000 for each in at], "k": [each * 7919 % 5003 for each in at], "x": at})
            write(rows.cast(schema), "parquet", tmp_path / name / f"{number}.parquet")
        streams.append(dv.stream(name, dv.files(tmp_path / name, max_files=1), time="ts", window="20 seconds"))
    query = dv.join(*streams, on="A.k = B.k", select="A.ts, B.ts AS other, A.x, B.x AS y")
    out, checkpoint = dv.parquet(tmp_path / "out"), str(tmp_path / "checkpoint")
    started = query.write(out, checkpoint, trigger={"availableNow": True}, session=spark)
    started.awaitTermination()

    def told_by_a_worker(batches: Any) -> Any:
        yield pa.RecordBatch.from_pydict({"folder": [str(left_folder()) for _ in batches]})

    (told,) = spark.range(1).coalesce(1).mapInArrow(told_by_a_worker, "folder string").collect()
    folder = Path(told.folder, started.id, "rows")
    last = "1" if spark_version(spark.version) >= (4, 2) else "0"  # before 4.2 the first batch has all
    assert [each.name for each in folder.iterdir()] == [last], "small batches left nothing, the first one's are gone"
    assert sum(file.stat().st_size for file in folder.glob(f"{last}/*")) > 8 * LEAST_BYTES
    found = spark.read.parquet(str(tmp_path / "out")).drop("batch").toArrow()
    expected = query.collect()
    assert expected.num_rows > 10_000
    assert_same_rows(found.cast(expected.schema), expected)


def test_a_bucket_finds_what_the_others_have_left_last(root: Path) -> None:
    in_batch(3)
    left = LeftLearned.here("run")
    assert left is not None
    assert left.by_others(0) == []
    left.leave(0, {"came": 1})
    left.leave(1, {"came": 2})
    left.leave(1, {"came": 3})
    assert left.by_others(0) == [{"came": 3}]
    assert left.by_others(2) == [{"came": 1}, {"came": 3}]
    other = LeftLearned.here("another operator of the query")
    assert other is not None
    assert other.by_others(0) == []
