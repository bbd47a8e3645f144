"""Delta tables that Dovetail reads and writes by their logs, without Spark: files that count, what a commit adds."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.runtime.files.feed import FilesFeed
from dovetail.runtime.spark.sink.delta import DeltaTable
from dovetail.runtime.spark.sink.parquet import Written

pytestmark = pytest.mark.lakes
SCHEMA = pa.schema({"result_time": pa.timestamp("us", tz="UTC"), "k": pa.int64()})
TIME = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64()})


def library() -> Any:
    import deltalake

    return deltalake


def rows(schema: pa.Schema, *values: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, pa.int64()).cast(schema.types[0]), list(values)], schema=schema)


def write(sink: DeltaTable, *values: int, task: int = 0, query: str = "q") -> Written:
    written = sink.write([rows(SCHEMA, *values)], task, query)
    assert written is not None
    return written


def values(path: Path) -> list[int]:
    return sorted(pa.table(library().DeltaTable(path).to_pyarrow_table())["k"].to_pylist())


def append(path: Path, *numbers: int, **options: Any) -> None:
    library().write_deltalake(path, pa.Table.from_batches([rows(TIME, *numbers)]), mode="append", **options)


class TestSink:
    def test_a_batch_is_one_commit_and_a_repeated_one_is_none(self, tmp_path: Path) -> None:
        sink = DeltaTable.of(dv.delta(tmp_path), SCHEMA)
        sink.commit([write(sink, 1, 2), write(sink, 3, task=1)], 0)
        assert values(tmp_path) == [1, 2, 3]
        sink.commit([write(sink, 1, 2), write(sink, 3, task=1)], 0)
        assert values(tmp_path) == [1, 2, 3]
        assert library().DeltaTable(tmp_path).version() == 0
        assert len(list((tmp_path / "data").iterdir())) == 2, "what was written in vain is gone"
        sink.commit([write(sink, 4)], 1)
        sink.commit([], 2)
        sink.commit([write(sink, 5, query="another")], 0)
        assert values(tmp_path) == [1, 2, 3, 4, 5]

    def test_of_two_drivers_one_enters_a_batch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Both have looked at the table before either has entered the batch."""
        sink = DeltaTable.of(dv.delta(tmp_path), SCHEMA)
        sink.commit([write(sink, 1)], 0)
        before = library().DeltaTable(tmp_path)
        sink.commit([write(sink, 2)], 1)
        monkeypatch.setattr(library(), "DeltaTable", _opening(before))
        with pytest.raises(Exception, match="Concurrent transaction"):
            sink.commit([write(sink, 2)], 1)
        monkeypatch.undo()
        assert values(tmp_path) == [1, 2]

    def test_what_does_not_fit_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(dv.QueryError, match="column 'n' is uint32, and Delta has no unsigned numbers"):
            DeltaTable.of(dv.delta(tmp_path), pa.schema({"n": pa.uint32()}))
        with pytest.raises(dv.QueryError, match="Invalid data type for Delta Lake: Duration"):
            DeltaTable.of(dv.delta(tmp_path), pa.schema({"n": pa.duration("us")}))
        sink = DeltaTable.of(dv.delta(tmp_path), SCHEMA)
        append(tmp_path, 1)
        with pytest.raises(dv.DataError, match=r"table .* has .*\(ts, .*, and results have .*\(result_time, "):
            sink.commit([write(sink, 1)], 0)
        with pytest.raises(dv.QueryError, match="give the path of a table"):
            dv.delta("")


def _opening(table: Any) -> Any:
    """A stand-in for the library's class that opens a table as it was."""

    class Opening:
        is_deltatable = staticmethod(lambda path: True)

        def __new__(cls, path: str) -> Any:
            return table

    return Opening


class TestSource:
    def test_files_that_the_log_does_not_name_do_not_count(self, tmp_path: Path) -> None:
        append(tmp_path / "t", 1, 2)
        append(tmp_path / "t", 3)
        library().write_deltalake(tmp_path / "t", pa.Table.from_batches([rows(TIME, 7)]), mode="overwrite")
        assert len(list((tmp_path / "t").glob("*.parquet"))) == 3
        a, b = (dv.stream(name, dv.files(tmp_path / "t"), time="ts", window="1 second") for name in "AB")
        assert dv.join(a, b, on="A.k = B.k", select="A.k").collect()["k"].to_pylist() == [7]

    def test_a_stream_is_what_is_appended(self, tmp_path: Path) -> None:
        append(tmp_path, 1, 2)
        feed = FilesFeed(dv.files(tmp_path, max_files=1), "ts", 0)
        first = feed.latest(feed.initial())
        append(tmp_path, 3)
        second = feed.latest(first)
        assert [len(feed.pieces(*span)) for span in ((feed.initial(), first), (first, second))] == [1, 1]
        assert feed.latest(second) == second
        library().DeltaTable(tmp_path).optimize.compact()
        with pytest.raises(dv.DataError, match=r"written anew since its first rows were read .*rows would come twice"):
            feed.latest(second)
        with pytest.raises(dv.DataError, match="written anew"):
            FilesFeed(dv.files(tmp_path), "ts", 0).pieces(second, feed.latest(None))

    def test_tables_whose_files_do_not_say_all_are_refused(self, tmp_path: Path) -> None:
        append(tmp_path, 1, 2, partition_by=["k"])
        with pytest.raises(dv.DataError, match="has partitions, whose columns are not in its files; read it with"):
            FilesFeed(dv.files(tmp_path), "ts", 0).latest(None)
