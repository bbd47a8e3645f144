"""A folder of results: what a commit leaves, whatever came before it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.runtime.spark.sink.parquet import ParquetFolder, Written


def batch(*values: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"v": list(values), "text": [f"t{value}" for value in values]})


def write(folder: ParquetFolder, task: int, *values: int, query: str = "q") -> Written:
    written = folder.write([batch(*values)], task, query)
    assert written is not None
    return written


def values(path: Path) -> dict[str, list[int]]:
    return {file.parent.name: sorted(pq.ParquetFile(file).read()["v"].to_pylist()) for file in path.glob("batch=*/*")}


def test_a_batch_is_there_once_it_is_committed_and_nothing_else_is(tmp_path: Path) -> None:
    folder = ParquetFolder(dv.parquet(tmp_path))
    written = write(folder, 0, 1, 2)
    assert not values(tmp_path)
    folder.commit([written], 0)
    assert values(tmp_path) == {"batch=0": [1, 2]}
    assert not list((tmp_path / "_writing").iterdir())
    folder.commit([], 1)
    assert not (tmp_path / "batch=1").exists()
    assert folder.write([], 0, "q") is None


def test_a_repeated_batch_replaces_what_a_commit_has_left_half_done(tmp_path: Path) -> None:
    folder = ParquetFolder(dv.parquet(tmp_path, "zstd"))
    first = [write(folder, task, task) for task in (0, 1, 2)]
    folder.commit(first, 7)
    again = [write(folder, task, task) for task in (0, 2)]
    folder.commit(again, 7)
    names = sorted(file.name for file in (tmp_path / "batch=7").iterdir())
    assert names == ["part-00000.parquet", "part-00002.parquet"]
    folder.commit([], 7)
    assert not list((tmp_path / "batch=7").iterdir())


def test_what_was_written_in_vain_is_removed(tmp_path: Path) -> None:
    folder = ParquetFolder(dv.parquet(tmp_path))
    folder.abort([write(folder, 0, 1)])
    folder.abort([Written("gone.parquet", 0, "q")])
    assert not list((tmp_path / "_writing").iterdir())
    write(folder, 0, 1)
    folder.tidy()
    folder.tidy()
    assert not (tmp_path / "_writing").exists()


def test_a_folder_belongs_to_one_checkpoint(tmp_path: Path) -> None:
    folder = ParquetFolder(dv.parquet(tmp_path))
    folder.commit([write(folder, 0, 1)], 0)
    with pytest.raises(dv.StateError, match="holds results of another checkpoint, and batch 0 would replace some"):
        folder.commit([write(folder, 0, 2, query="other")], 0)
    assert values(tmp_path) == {"batch=0": [1]}


def test_pieces_are_row_groups_and_texts_have_dictionaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.runtime.spark.sink.parquet._GROUP_BYTES", 1)
    folder = ParquetFolder(dv.parquet(tmp_path))
    written = folder.write([batch(1, 1), batch(2), batch()], 0, "q")
    assert written is not None
    folder.commit([written], 0)
    footer = pq.ParquetFile(tmp_path / "batch=0" / "part-00000.parquet").metadata
    assert [footer.row_group(number).num_rows for number in range(footer.num_row_groups)] == [2, 1]
    assert [footer.row_group(0).column(at).has_dictionary_page for at in (0, 1)] == [False, True]
