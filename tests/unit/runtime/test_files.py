"""Folders of files as the data of streams: every format, in the order of their times, and what is said of bad ones."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.files import Files
from dovetail.runtime.files.decode import decoded
from dovetail.runtime.files.feed import FilesFeed, all_files
from dovetail.runtime.files.listing import TAIL_BYTES, Known
from dovetail.runtime.finite import pushes_of
from dovetail.testing import Push, assert_same_rows, oracle

SCHEMA = pa.schema({"ts": pa.timestamp("us", "UTC"), "k": pa.int64(), "name": pa.string()})
SECOND = 1_000_000


def rows(first: float, last: float, count: int = 20, seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    times = np.concatenate([[first, last], first + random.random(count - 2) * (last - first)])
    columns = [
        pa.array((times * SECOND).astype(np.int64)).cast(SCHEMA.field("ts").type),
        pa.array(random.integers(0, 4, count)),
        pa.array([None if n % 7 == 0 else f'é {n}, "q"' for n in range(count)]),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def write(table: pa.Table, format: str, file: Path, **options: Any) -> None:
    file.parent.mkdir(exist_ok=True)
    if format == "parquet":
        pq.write_table(table, file, **options)
    elif format == "csv":
        pacsv.write_csv(table, file)
    elif format == "json":
        file.write_text("".join(json.dumps(row, default=datetime.isoformat) + "\n" for row in table.to_pylist()))
    else:
        with ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, 7)


def write_twins(file: Path, twin: Path, format: str = "parquet") -> None:
    """Two files that differ in their first rows alone: not in size, nor in their footers and their ends."""
    count = 1 << 19  # more than is decoded at once
    times = pa.array(np.arange(count)).cast(SCHEMA.field("ts").type)
    keys = np.arange(count) % 10
    for number, path in enumerate((file, twin)):
        keys[5] = 5 + number
        table = pa.table({"ts": times, "k": keys, "name": pa.nulls(count, pa.string())})
        options = {"use_dictionary": False, "compression": "none"} if format == "parquet" else {}
        write(table, format, path, **options)
        os.utime(path, (10**9 + number, 10**9 + number))
    assert file.stat().st_size == twin.stat().st_size
    assert file.read_bytes()[-TAIL_BYTES:] == twin.read_bytes()[-TAIL_BYTES:]


def joined(folder: Path, how: str = "inner", format: str = "parquet", **options: Any) -> dv.Query:
    streams = [
        dv.stream(name, dv.files(folder / name, format), time="ts", window="2 seconds", schema=SCHEMA) for name in "AB"
    ]
    return dv.join(*streams, on="A.k = B.k", select="A.k, A.name AS a, A.ts AS a_ts, B.ts AS b_ts", how=how, **options)


@pytest.mark.parametrize("format", ["parquet", "csv", "json", "arrow"])
def test_every_format_has_the_rows_that_were_written(tmp_path: Path, format: str) -> None:
    tables = {name: [rows(0, 5, seed=place), rows(5, 9, seed=place + 7)] for place, name in enumerate("AB")}
    for name, some in tables.items():
        for number, table in enumerate(some):
            write(table, format, tmp_path / name / f"{number}.{format}")
    query = joined(tmp_path, format=format)
    expected = oracle(query.model, [Push({name: pa.concat_tables(some) for name, some in tables.items()})]).rows
    assert expected.num_rows > 50
    assert_same_rows(query.collect(), expected)
    run = query.local()
    pushed = [run.push(name, dv.files(tmp_path / name, format)) for name in "AB"]
    assert_same_rows(pa.concat_tables([*pushed, run.close()]), expected)


@given(
    cuts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(1, 3)), min_size=1, max_size=5),
    others=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12), st.integers(1, 3)), min_size=1, max_size=4),
    how=st.sampled_from(["inner", "left", "full", "anti", "semi"]),
    order=st.sampled_from(["none", "sync"]),
)
def test_any_folder_gives_the_rows_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, cuts: Any, others: Any, how: str, order: str
) -> None:
    """Files overlap, are older than those before them, and have several row groups, some far from all partners."""
    folder = tmp_path_factory.mktemp("any")
    tables: dict[str, list[pa.Table]] = {"A": [], "B": []}
    for name, some in (("A", cuts), ("B", others)):
        for number, (first, length, groups) in enumerate(some):
            table = rows(first, first + length, 12, seed=number + len(some))
            write(table, "parquet", folder / name / f"{number}.parquet", row_group_size=-(-12 // groups))
            tables[name].append(table)
    query = joined(folder, how, order=order) if how not in ("semi", "anti") else _of_one(folder, how, order)
    expected = oracle(query.model, [Push({name: pa.concat_tables(some) for name, some in tables.items()})]).rows
    assert_same_rows(query.collect(), expected)


def _of_one(folder: Path, how: str, order: str) -> dv.Query:
    streams = [dv.stream(name, dv.files(folder / name), time="ts", window="2 seconds") for name in "AB"]
    return dv.join(*streams, on="A.k = B.k", select="A.k, A.name", how=how, order=order)


def test_files_are_cut_where_no_row_is_late_and_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    spans = {"c": (20, 25), "a": (0, 10), "b": (8, 12)}
    for number, (name, span) in enumerate(spans.items()):
        write(rows(*span), "parquet", tmp_path / "A" / f"{name}.parquet")
        os.utime(tmp_path / "A" / f"{name}.parquet", (10**9 + number, 10**9 + number))
    stream = dv.stream("A", dv.files(tmp_path / "A"), time="ts", window="2 seconds")
    assert [Path(file.path).stem for file in all_files(stream.data, "ts")] == ["a", "b", "c"]
    sizes = [push["A"].num_rows for push in pushes_of([stream]) if push]
    assert sizes == [40, 20], "a and b overlap, so they come together"


def test_only_row_groups_that_can_have_partners_are_read(tmp_path: Path) -> None:
    early, late = rows(0, 100, 40), rows(1000, 1010, 10)
    write(pa.concat_tables([early, late]), "parquet", tmp_path / "A" / "0.parquet", row_group_size=40)
    write(rows(1011, 1012, 6), "parquet", tmp_path / "B" / "0.parquet")
    assert _read(joined(tmp_path)) == {"A": 10, "B": 6}
    assert _read(joined(tmp_path, "left")) == {"A": 50, "B": 6}, "rows without a partner count"


def test_a_row_without_partners_is_read_if_a_repeat_of_it_follows(tmp_path: Path) -> None:
    """The row of second 9 repeats that of second 0, which lies too far from B's row to have it as a partner."""
    first, again = (rows(second, second, 2).slice(0, 1) for second in (0, 9))
    write(pa.concat_tables([first, again]), "parquet", tmp_path / "A" / "0.parquet", row_group_size=1)
    write(rows(15, 15, 2).slice(0, 1), "parquet", tmp_path / "B" / "0.parquet")
    streams = [
        dv.stream(name, dv.files(tmp_path / name), time="ts", window="10 seconds", dedup=dedup)
        for name, dedup in (("A", "k"), ("B", None))
    ]
    query = dv.join(*streams, on="A.k = B.k", select="A.k")
    assert _read(query) == {"A": 2, "B": 1}
    assert query.collect().num_rows == 0


def _read(query: dv.Query) -> dict[str, int]:
    pushes = pushes_of(query.model.streams, query.plan.columns, query.model)
    return {name: table.num_rows for push in pushes for name, table in push.items()}


def test_hidden_files_and_folders_are_no_data(tmp_path: Path) -> None:
    for name in ("seen.parquet", "_temporary/x.parquet", ".hidden.parquet", "batch=1/y.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(rows(0, 1), tmp_path / name)
    assert [Path(file.path).name for file in all_files(Files(str(tmp_path)), "ts")] == ["y.parquet", "seen.parquet"]
    assert len(all_files(Files(str(tmp_path / "s*.parquet")), "ts")) == 1
    assert len(all_files(Files(f"file://{tmp_path}/seen.parquet"), "ts")) == 1


def test_times_that_spark_writes_in_96_bits_are_instants(tmp_path: Path) -> None:
    table = rows(0, 5)
    write(table, "parquet", tmp_path / "A" / "0.parquet", use_deprecated_int96_timestamps=True)
    stream = dv.stream("A", dv.files(tmp_path / "A"), time="ts", window="2 seconds")
    assert stream.schema.field("ts").type == pa.timestamp("us", "UTC")
    (found,) = [push["A"] for push in pushes_of([stream]) if push]
    assert found.equals(table)


class TestFeed:
    def feed(self, folder: Path, delay_s: int = 0, **limits: Any) -> FilesFeed:
        return FilesFeed(Files(str(folder), **limits), "ts", delay_s * SECOND)

    def batches(self, feed: FilesFeed) -> list[list[str]]:
        """The names of the files of one batch after the other, each position as it comes out of a checkpoint."""
        found, at = [], feed.initial()
        while (end := feed.latest(at)) != at:
            end = json.loads(json.dumps(end))
            found.append([Path(piece.file.path).stem for piece in feed.pieces(at, end)])
            at = end
        return found

    def test_batches_keep_to_their_limits(self, tmp_path: Path) -> None:
        for number in range(5):
            write(rows(10 * number, 10 * number + 5), "parquet", tmp_path / f"{number}.parquet")
        assert self.batches(self.feed(tmp_path)) == [["0", "1", "2", "3", "4"]]
        assert self.batches(self.feed(tmp_path, max_files=2)) == [["0", "1"], ["2", "3"], ["4"]]
        assert self.batches(self.feed(tmp_path, max_rows=41)) == [["0", "1"], ["2", "3"], ["4"]]
        assert self.batches(self.feed(tmp_path, max_rows=1)) == [["0"], ["1"], ["2"], ["3"], ["4"]]

    def test_files_that_would_be_late_come_along(self, tmp_path: Path) -> None:
        for number in range(4):
            write(rows(10 * number, 10 * number + 15), "parquet", tmp_path / f"{number}.parquet")
        assert self.batches(self.feed(tmp_path, max_files=1)) == [["0", "1", "2", "3"]]
        assert self.batches(self.feed(tmp_path, 5, max_files=1)) == [["0"], ["1"], ["2"], ["3"]]

    def test_files_are_read_once_whatever_comes_and_goes(self, tmp_path: Path) -> None:
        feed = self.feed(tmp_path)
        assert feed.latest(feed.initial()) == feed.initial()
        write(rows(0, 1), "parquet", tmp_path / "b.parquet")
        first = feed.latest(feed.initial())
        (tmp_path / "b.parquet").unlink()
        write(rows(0, 1), "parquet", tmp_path / "a.parquet")
        second = self.feed(tmp_path).latest(first)
        assert [Path(piece.file.path).stem for piece in feed.pieces(first, second)] == ["a"]
        assert self.feed(tmp_path).latest(second) == second
        assert feed.silent(second)["batch"] == []

    def test_a_position_does_not_grow_with_files_that_are_gone(self, tmp_path: Path) -> None:
        feed = self.feed(tmp_path)
        at, sizes = feed.initial(), []
        for number in range(5):
            write(rows(number, number + 1), "parquet", tmp_path / f"{number}.parquet")
            at = feed.latest(at)
            assert [Path(piece.file.path).stem for piece in feed.pieces(at, at)] == [str(number)]
            sizes.append(len(at["seen"]))
            (tmp_path / f"{number - 1}.parquet").unlink(missing_ok=True)
        assert sizes == [16, 32, 32, 32, 32]

    def test_a_start_that_nobody_told_reads_what_is_new(self, tmp_path: Path) -> None:
        write(rows(0, 1), "parquet", tmp_path / "a.parquet")
        feed = self.feed(tmp_path, max_files=1)
        before = feed.latest(feed.initial())
        write(rows(5, 6), "parquet", tmp_path / "c.parquet")
        write(rows(2, 3), "parquet", tmp_path / "b.parquet")
        after = self.feed(tmp_path, max_files=1).latest(None)
        assert [Path(piece.file.path).stem for piece in feed.pieces(before, after)] == ["b", "c"]
        (tmp_path / "c.parquet").unlink()
        with pytest.raises(dv.DataError, match=r"1 of the files of a batch at .* are gone"):
            feed.pieces(before, after)

    def test_what_came_after_a_freeze_waits_for_the_next_run(self, tmp_path: Path) -> None:
        write(rows(0, 1), "parquet", tmp_path / "a.parquet")
        feed = self.feed(tmp_path)
        feed.freeze()
        write(rows(2, 3), "parquet", tmp_path / "b.parquet")
        assert self.batches(feed) == [["a"]]

    def test_row_groups_are_pieces(self, tmp_path: Path) -> None:
        write(rows(0, 1, 20), "parquet", tmp_path / "a.parquet", row_group_size=8)
        write(SCHEMA.empty_table(), "parquet", tmp_path / "b.parquet")
        feed = self.feed(tmp_path)
        assert [piece.groups for piece in feed.pieces(feed.initial(), feed.latest(feed.initial()))] == [
            (0,),
            (1,),
            (2,),
        ]


class TestMistakes:
    def planned(self, folder: Path) -> tuple[FilesFeed, Any, Path]:
        file = folder / "a.parquet"
        write(rows(0, 1), "parquet", file)
        feed = FilesFeed(Files(str(folder)), "ts", 0)
        return feed, feed.latest(feed.initial()), file

    def test_a_file_that_is_gone_is_named(self, tmp_path: Path) -> None:
        feed, end, file = self.planned(tmp_path)
        file.unlink()
        fresh = FilesFeed(Files(str(tmp_path)), "ts", 0)
        with pytest.raises(dv.DataError, match=rf"file {file} was there when the batch was planned, and is gone"):
            fresh.pieces(feed.initial(), end)

    def test_a_file_that_was_replaced_is_named(self, tmp_path: Path) -> None:
        feed, end, file = self.planned(tmp_path)
        write(rows(0, 1, seed=3), "parquet", file)
        fresh = FilesFeed(Files(str(tmp_path)), "ts", 0)
        with pytest.raises(dv.DataError, match=rf"file {file} (was replaced|had)"):
            fresh.pieces(feed.initial(), end)

    def test_a_file_that_has_grown_is_named(self, tmp_path: Path) -> None:
        feed, end, file = self.planned(tmp_path)
        write(rows(0, 1, 500), "parquet", file)
        with pytest.raises(dv.DataError, match=rf"file {file} had [\d,]+ bytes when it was read and has [\d,]+ now"):
            feed.latest(end)
        stream = dv.stream("A", dv.files(tmp_path), time="ts", window="2 seconds")
        (piece,) = feed.pieces(feed.initial(), end)
        with pytest.raises(dv.DataError, match=rf"file {file} had [\d,]+ bytes when its batch was planned"):
            list(decoded(stream.data, piece.file, stream.schema, stream.schema.names))

    @pytest.mark.parametrize("format", ["parquet", "csv"])
    @pytest.mark.parametrize("when", ["before it is opened", "while it is read", "before its batch is repeated"])
    def test_another_file_of_the_same_size_and_end_is_named(self, tmp_path: Path, format: str, when: str) -> None:
        file, source = tmp_path / "in" / "a", Files(str(tmp_path / "in"), format)
        file.parent.mkdir()
        write_twins(file, tmp_path / "twin", format)
        feed = FilesFeed(source, "ts", 0)
        end = json.loads(json.dumps(feed.latest(feed.initial())))
        (piece,) = feed.pieces(feed.initial(), end)
        if when == "before its batch is repeated":
            feed = FilesFeed(source, "ts", 0)
            assert feed.pieces(feed.initial(), end) == [piece]
        rows = decoded(source, piece.file, SCHEMA, ["ts", "k"])
        if when == "while it is read":
            assert next(rows).num_rows > 0
        (tmp_path / "twin").rename(file)
        with pytest.raises(dv.DataError, match=rf"file {file} was replaced or written to since its batch was planned"):
            feed.pieces(feed.initial(), end) if when == "before its batch is repeated" else list(rows)

    def test_a_file_that_breaks_because_it_is_overwritten_was_replaced(self, tmp_path: Path) -> None:
        file = tmp_path / "in" / "a"
        file.parent.mkdir()
        write_twins(file, tmp_path / "twin", "csv")
        (known,) = all_files(source := Files(str(file.parent), "csv"), "ts")
        rows = decoded(source, known, SCHEMA, ["ts", "k"])
        next(rows)
        file.write_bytes(b"\x00,?\n" * (known.size // 4))
        with pytest.raises(dv.DataError, match=rf"file {file} was replaced or written to"):
            list(rows)

    def test_a_small_file_that_was_copied_back_is_the_same(self, tmp_path: Path) -> None:
        feed, end, file = self.planned(tmp_path)
        os.utime(file, (10**9, 10**9))
        assert file.stat().st_size < TAIL_BYTES
        fresh = FilesFeed(Files(str(tmp_path)), "ts", 0)
        (piece,) = fresh.pieces(feed.initial(), end)
        assert sum(rows.num_rows for rows in decoded(Files(str(tmp_path)), piece.file, SCHEMA, ["ts"])) == 20

    def test_files_of_old_positions_are_known_by_size_and_end(self, tmp_path: Path) -> None:
        feed, end, _ = self.planned(tmp_path)
        old = {**end, "batch": [named[:3] for named in end["batch"]]}
        assert feed.pieces(feed.initial(), old) == feed.pieces(feed.initial(), end)

    @pytest.mark.parametrize("format", ["parquet", "csv", "json", "arrow"])
    def test_a_damaged_file_is_named(self, tmp_path: Path, format: str) -> None:
        file = tmp_path / "A" / "bad"
        file.parent.mkdir()
        file.write_bytes(b'{"ts": "2026-07-01 12:00:00", "k": [}\n1,2\n')
        stream = dv.stream("A", dv.files(tmp_path / "A", format), time="ts", window="2 seconds", schema=SCHEMA)
        with pytest.raises(dv.DataError, match=rf"file {file} cannot be read as {format}: .*move it out of the folder"):
            list(pushes_of([stream]))

    def test_a_column_that_is_missing_is_named(self, tmp_path: Path) -> None:
        pq.write_table(rows(0, 1).drop_columns(["k"]), tmp_path / "x.parquet")
        stream = dv.stream("A", dv.files(tmp_path), time="ts", window="2 seconds", schema=SCHEMA)
        with pytest.raises(dv.DataError, match=r"x\.parquet cannot be read as parquet: it has no column 'k'; it has"):
            list(pushes_of([stream]))

    @pytest.mark.parametrize(
        ("format", "text", "reason"),
        [
            ("csv", "ts,k,name\n2026-07-01T12:00:00,1,x\n", "expected a zone offset"),
            ("csv", "ts,k,name\n2026-07-01T12:00:00Z,one,x\n", "'one'"),
            ("csv", "ts,k,name\n2026-07-01T12:00:00Z,1\n", "Expected 3 columns, got 2"),
            ("csv", "ts,key,name\n2026-07-01T12:00:00Z,1,x\n", "'k'"),
            ("json", '{"ts": "2026-07-01T12:00:00", "k": 1}\n', "expected a zone offset"),
            ("json", '{"ts": "2026-07-01T12:00:00Z", "k": "1"}\n', "number to string"),
            ("json", '{"ts": "2026-07-01T12:00:00Z", "k": 1.5}\n', "1.5"),
        ],
    )
    def test_what_spark_would_make_null_is_refused(self, tmp_path: Path, format: str, text: str, reason: str) -> None:
        (tmp_path / "a").write_text(text)
        stream = dv.stream("A", dv.files(tmp_path, format), time="ts", window="2 seconds", schema=SCHEMA)
        with pytest.raises(dv.DataError, match=rf"a cannot be read as {format}: .*{reason}"):
            list(pushes_of([stream]))

    def test_json_has_no_bytes(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text('{"ts": "2026-07-01T12:00:00Z", "b": "AQID"}\n')
        schema = SCHEMA.append(pa.field("b", pa.binary()))
        stream = dv.stream("A", dv.files(tmp_path, "json"), time="ts", window="2 seconds", schema=schema)
        with pytest.raises(dv.DataError, match="column 'b' needs bytes, and JSON has none; declare it as text"):
            list(pushes_of([stream]))

    def test_a_folder_of_sparks_file_sink_is_left_to_spark(self, tmp_path: Path) -> None:
        (tmp_path / "_spark_metadata").mkdir()
        with pytest.raises(dv.DataError, match=r"written by Spark's file sink.*spark\.readStream"):
            all_files(Files(str(tmp_path)), "ts")

    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (lambda: dv.files("", "parquet"), "give the path"),
            (lambda: dv.files("x", "xml"), "format='xml': it is one of 'parquet'"),
            (lambda: dv.files("x", max_rows=0), "max_rows must be a whole number, 1 or more, got 0"),
            (lambda: dv.files("x", "csv", max_rows=5), "only Parquet files say how many rows"),
            (lambda: dv.files("x", maxfiles=5), "there is no option 'maxfiles'; there are: max_rows"),
            (lambda: dv.files("x", "csv", delimiter="ab"), "one ASCII character"),
            (lambda: dv.files("x", static=1), "static must be True or False"),
            (lambda: dv.stream("A", dv.files("nowhere"), time="ts"), "no file at nowhere to read the schema from"),
            (lambda: dv.stream("A", dv.files("x", "csv"), time="ts"), "csv files do not say what types they hold"),
        ],
    )
    def test_mistakes_are_found_at_once(self, build: Any, message: str) -> None:
        with pytest.raises(dv.StreamError, match=message):
            build()


def test_known_files_tell_their_rows() -> None:
    assert Known("x", 1, 2).times is None
    assert not Known("x", 1, 2).empty
    assert Known("x", 1, 2, ()).empty
