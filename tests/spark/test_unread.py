"""Row groups that no row of another stream can meet are not read on Spark: which they are, and what is still told."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.query import JoinQuery
from dovetail.plan.leave_unread import leave_unread
from dovetail.runtime.files.feed import Piece
from dovetail.runtime.files.near import merged
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.source.source import StreamReader
from dovetail.runtime.spark.source.tasks import Task
from dovetail.runtime.spark.source.work import Input, options_of
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder
from tests.spark.queries import SCHEMA, SECOND, build
from tests.spark.test_native_source import damage, files

HOUR = 3600 * SECOND
ON = {"AB": "A.k = B.k", "ABC": "A.k = B.k AND B.k = C.k"}


def rows(times: Sequence[int], first_row: int) -> pa.Table:
    """One row for each time, in order, of two keys."""
    count = len(times)
    columns = {
        "ts": pa.array(times).cast(SCHEMA.field("ts").type),
        "k": [number % 2 for number in range(count)],
        "g": pa.nulls(count, pa.string()),
        "x": [0.0] * count,
        "n": [0] * count,
        "row": list(range(first_row, first_row + count)),
    }
    return pa.table(columns, SCHEMA)


def reader(query: JoinQuery) -> StreamReader:
    windows = leave_unread(query)
    inputs = tuple(Input(s.name, s.data, s.schema, ("ts",), "ts", s.delay_us, windows[s.name]) for s in query.streams)
    return StreamReader(options_of(inputs, {}, Layouts(query, 2), 2, False))


def planned(
    source: StreamReader, start: Any
) -> tuple[Any, dict[str, set[tuple[str, int]]], dict[str, tuple[int, int]]]:
    """The next position, the row groups that are read up to it, and what is told of the others."""
    end = source.latestOffset(start)
    read, told = defaultdict[str, set[tuple[str, int]]](set), {}
    for part in (part for task in source.partitions(start, end) if isinstance(task, Task) for part in task.parts):
        if part.unread is not None:
            told[part.stream] = (part.unread.rows, part.unread.newest)
        for piece in part.pieces:
            assert isinstance(piece, Piece)
            read[part.stream] |= {(piece.file.path, number) for number in piece.groups or (0,)}
    return end, read, told


def unread_rows(file: Path, read: set[tuple[str, int]]) -> pa.Table:
    held = pq.ParquetFile(file)
    groups = [number for number in range(held.num_row_groups) if (str(file), number) not in read]
    return held.read_row_groups(groups) if groups else SCHEMA.empty_table()


GROUP = st.lists(st.integers(0, 40), min_size=1, max_size=4)
FILE = st.lists(GROUP, min_size=1, max_size=3)


@given(
    names=st.sampled_from(["AB", "ABC"]),
    batches=st.lists(st.lists(st.none() | FILE, min_size=3, max_size=3), min_size=1, max_size=4),
    windows=st.lists(st.integers(0, 12), min_size=3, max_size=3),
    delay=st.integers(0, 10),
)
@example("AB", [[None, [[10]], None], [[[10]], [[40]], None]], [2, 2, 2], 0).via("its partner came in an earlier batch")
def test_no_result_has_a_row_that_is_not_read_and_none_of_them_is_late(
    tmp_path_factory: pytest.TempPathFactory, names: str, batches: Any, windows: list[int], delay: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    data, lengths = {name: dv.files(folder / name) for name in names}, dict(zip("ABC", windows, strict=True))
    for name in names:
        (folder / name).mkdir()
    in_units = {name: f"{lengths[name]} seconds" for name in names}
    query = build(ON[names], data, in_units, f"{delay} seconds").model
    source, pushes = reader(query), list[Push]()
    at, newest, unread = source.initialOffset(), dict.fromkeys(names, -(10**12)), {name: set[int]() for name in names}
    for number, given_files in enumerate(batches):
        push = {}
        for name, groups in zip(names, given_files, strict=False):
            if groups is not None:
                push[name] = _write(folder / name / f"{number}.parquet", groups, 1000 * number)
        pushes.append(Push(push))
        if not push:
            continue
        at, read, told = planned(source, at)
        for name, table in push.items():
            left = unread_rows(folder / name / f"{number}.parquet", read[name])
            times = left["ts"].cast(pa.int64()).to_pylist()
            assert told.get(name, (0, 0))[0] == left.num_rows
            assert all(time >= newest[name] - delay * SECOND for time in times), "late rows are read and counted"
            assert not times or told[name][1] == max(times)
            unread[name] |= set(left["row"].to_pylist())
            newest[name] = max([newest[name], *table["ts"].cast(pa.int64()).to_pylist()])
    results = oracle(query, pushes).rows
    for name in names:
        assert not unread[name] & set(results[name.lower()].to_pylist())


def _write(file: Path, groups: Sequence[Sequence[int]], first_row: int) -> pa.Table:
    tables: list[pa.Table] = []
    with pq.ParquetWriter(file, SCHEMA) as writer:
        for group in groups:
            tables.append(rows([time * SECOND for time in group], first_row + sum(len(table) for table in tables)))
            writer.write_table(tables[-1])
    return pa.concat_tables(tables)


def hours(folder: Folder, name: str, number: int, spans: Mapping[int, int]) -> pa.Table:
    """A file with a row group of rows between each two hours, ten seconds apart."""
    tables: list[pa.Table] = []
    with pq.ParquetWriter(folder.path / name / f"{number}.parquet", SCHEMA) as writer:
        for begin, end in spans.items():
            times = list(range(begin * HOUR, end * HOUR, 10 * SECOND))
            tables.append(rows(times, 10**6 * number + sum(len(table) for table in tables)))
            writer.write_table(tables[-1])
    return pa.concat_tables(tables)


@pytest.mark.parametrize("static", [False, True])
def test_on_spark_damaged_groups_that_need_not_be_read_are_not(spark: Any, tmp_path: Path, static: bool) -> None:
    """B begins at eleven: two of A's three row groups can have no partner, of a table also those after B's end."""
    folder = Folder(spark, tmp_path, "AB")
    push = {
        "A": hours(folder, "A", 0, {9: 10, 10: 11, 12: 13, 14: 15}),
        "B": hours(folder, "B", 0, {12: 13}),
    }
    query = build("A.row = B.row + 720 AND A.k = B.k", files(folder, static=static), "5 minutes", "0 seconds")
    damage(tmp_path / "A" / "0.parquet", set(SCHEMA.names), {0, 1, 3} if static else {0, 1})
    expected = oracle(query.model, [Push(push)]).rows
    assert expected.num_rows == 360
    if static:
        assert_same_rows(query.spark(spark).toArrow().cast(query.schema), expected)
        return
    started = folder.run(query.spark(spark))
    found = spark.read.schema(query.spark(spark).schema).parquet(str(tmp_path / "out")).toArrow()
    assert_same_rows(found.cast(query.schema), expected)
    (batch,) = [each for each in dv.spark_metrics(started) if each["streams"]["A"]["rows"]]
    assert batch["streams"]["A"]["rows"] == push["A"].num_rows, "rows that are not read are told of"


@pytest.mark.parametrize(
    "options",
    [{"how": "left"}, {"late": "keep"}, {"window": dv.rows(5)}],
    ids=["rows without partners count", "late rows come in", "rows are counted"],
)
def test_all_is_read_where_more_than_results_depends_on_it(spark: Any, tmp_path: Path, options: Any) -> None:
    folder = Folder(spark, tmp_path, "AB")
    hours(folder, "A", 0, {9: 10, 12: 13})
    hours(folder, "B", 0, {12: 13})
    damage(tmp_path / "A" / "0.parquet", {"k"}, {0})
    query = build("A.k = B.k", files(folder, static=True), **({"window": "5 minutes"} | options))
    with pytest.raises(Exception, match=r"A/0\.parquet cannot be read as parquet"):
        query.spark(spark).collect()


def test_a_position_has_few_times_however_scattered_rows_are() -> None:
    spans = [(100 * number, 100 * number + number % 7) for number in range(500)]
    few = merged(spans, 32)
    assert len(few) == 32
    assert all(any(first <= span[0] and span[1] <= last for first, last in few) for span in spans)
    assert merged([(0, 1), (1, 2), (5, 6)], 32) == [(0, 2), (5, 6)]
