"""A checkpoint made into that of another query: the same inputs, the same sink, and not a row lost or repeated."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import dovetail as dv
from dovetail.cli.migrate import migrate_all
from dovetail.cli.run import run_on
from dovetail.runtime.spark import migrate
from dovetail.sql import parse_pipeline
from dovetail.testing import Push, assert_same_rows, oracle
from dovetail.testing.changed import changed_oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import bare, build, random_rows

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ON = "A.k = B.k AND A.x > -1 AND A.n < B.n"
FAR = Push({name: random_rows(place, 5, 600, 1, first_row=9000) for place, name in enumerate("AB")})


def run(folder: Folder, checkpoint: str, query: dv.Query) -> None:
    """All there is, into the one sink that all checkpoints share."""
    writing = query.spark(folder.spark).writeStream.format("parquet").option("path", str(folder.path / "out"))
    writing = writing.option("checkpointLocation", str(folder.path / checkpoint)).trigger(availableNow=True)
    writing.start().awaitTermination()


def early(query: dv.Query, rows: pa.Table) -> pa.Table:
    end = pa.scalar(500_000_000, pa.int64()).cast(query.model.time_type)
    return rows.filter(pc.less(rows["result_time"], end))


def test_other_partitions_over_the_same_files_into_the_same_sink(spark: Any, tmp_path: Path) -> None:
    batches = [*random_batches("AB", seed=3, batches=6), FAR]
    folder, how = Folder(spark, tmp_path, "AB"), {"how": "full", "order": "hold"}
    parts = {2: batches[:2], 3: batches[2:4], 1: batches[4:]}
    old: dv.Query | None = None
    for number, some in parts.items():
        folder.feed(some)
        query = build(ON, folder.frames(), partitions=number, **how)
        if old is not None:
            before = str(tmp_path / f"of_{old.model.partitions}")
            assert query.migrate(before, str(tmp_path / f"of_{number}"), of=old) is None
        run(folder, f"of_{number}", query)
        old = bare(ON, "AB", partitions=number, **how)
    assert_same_rows(early(query, folder.rows(query)), early(query, oracle(query.model, batches).rows))


def test_files_that_dovetail_reads_and_writes_with_another_window(spark: Any, tmp_path: Path) -> None:
    """What both queries read is read once, and from ``complete_from`` on nothing is missing."""
    batches = [*random_batches("AB", seed=4, batches=5), FAR]
    folder = Folder(spark, tmp_path, "AB")
    old, new = (
        build(ON, {name: dv.files(tmp_path / name, max_files=1) for name in "AB"}, window=window, partitions=2)
        for window in ("2 seconds", "4 seconds")
    )
    folder.feed(batches[:3])
    write(old, tmp_path, "before", spark)
    known = results(tmp_path, old)
    folder.feed(batches[3:])
    since = new.migrate(str(tmp_path / "before"), str(tmp_path / "after"), of=old, session=spark)
    assert since is not None
    with pytest.raises(dv.StateError, match=r"after exists; a checkpoint is migrated into a folder that does not"):
        new.migrate(str(tmp_path / "before"), str(tmp_path / "after"), of=old, session=spark)
    write(new, tmp_path, "after", spark)
    made = [row for row in results(tmp_path, new) if row not in known]
    whole, earlier = (early(new, oracle(new.model, some).rows).to_pylist() for some in (batches, batches[:3]))
    assert all(row in whole and row not in earlier for row in made), "never a wrong row, never one twice"
    later = [row for row in whole if row["result_time"] >= EPOCH + timedelta(microseconds=since)]
    assert all(row in made for row in later if row not in earlier), "nothing is missing from then on"
    assert len(made) == len({str(row) for row in made}) > 50


def test_a_left_join_before_its_first_row_and_then_with_another_window(spark: Any, tmp_path: Path) -> None:
    """A batch of empty files leaves no bucket at all; later on, rows wait for a partner in the middle of a window."""
    batches = [*random_batches("AB", seed=8, batches=4), FAR]
    folder = Folder(spark, tmp_path, "AB")
    first, old, new = (
        build(
            ON,
            {name: dv.files(tmp_path / name, max_files=1) for name in "AB"},
            window=window,
            partitions=partitions,
            how="left",
            order="hold",
        )
        for window, partitions in (("4 seconds", 2), ("4 seconds", 3), ("1 second", 2))
    )
    folder.feed([Push({name: random_rows(0, 0) for name in "AB"})])
    write(first, tmp_path, "first", spark)
    assert old.migrate(str(tmp_path / "first"), str(tmp_path / "old"), of=first, session=spark) is None
    folder.feed(batches[:2])
    write(old, tmp_path, "old", spark)
    folder.feed(batches[2:])
    assert new.migrate(str(tmp_path / "old"), str(tmp_path / "new"), of=old, session=spark) is not None
    write(new, tmp_path, "new", spark)
    wanted = early(new, changed_oracle(old.model, new.model, batches[:2], batches[2:])).to_pylist()
    assert sorted(map(str, results(tmp_path, new))) == sorted(map(str, wanted))


COLUMNS = "ts TIMESTAMP, k BIGINT, g STRING, x DOUBLE, n BIGINT, row BIGINT"
LATE = "WATERMARK FOR ts AS ts - INTERVAL '3' SECOND"


def test_a_pipeline_file_whose_order_has_changed(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = [*random_batches("AB", seed=5, batches=4), FAR]
    folder = Folder(spark, tmp_path, "AB")
    streams = "".join(
        f"CREATE STREAM {name} ({COLUMNS}, {LATE}) "
        f"WITH (format = 'parquet', path = '{tmp_path / name}', maxFilesPerTrigger = 1);"
        for name in "AB"
    )
    old, new = (
        parse_pipeline(
            f"{streams} INSERT INTO pairs WITH (format = 'parquet', path = '{tmp_path / 'out'}', order = '{order}', "
            f"checkpoint = '{tmp_path / order}') "
            "SELECT A.row AS a, B.row AS b FROM A, B WHERE A.k = B.k AND A.n < B.n WINDOW 4 SECONDS"
        )
        for order in ("none", "hold")
    )
    for pipeline, some in ((old, batches[:2]), (new, batches[2:])):
        folder.feed(some)
        if pipeline is new:
            assert migrate_all(spark, old, new) == 1
            assert migrate_all(spark, new, new) == 0
        assert run_on(spark, pipeline, Event(), Console(quiet=True), once=True) is None
    assert f"pairs: {tmp_path / 'none'} -> {tmp_path / 'hold'}, nothing is missing" in capsys.readouterr().out
    query = bare("A.k = B.k AND A.n < B.n", "AB")
    rows = spark.read.parquet(str(tmp_path / "out")).toArrow().cast(query.schema)
    assert_same_rows(early(query, rows), early(query, oracle(query.model, batches).rows))


def write(query: dv.Query, path: Path, checkpoint: str, spark: Any) -> None:
    sink, trigger = dv.parquet(path / "out"), {"availableNow": True}
    query.write(sink, str(path / checkpoint), trigger=trigger, session=spark).awaitTermination()


def results(path: Path, query: dv.Query) -> list[dict[str, Any]]:
    tables = [pq.ParquetFile(file).read() for file in sorted((path / "out").glob("batch=*/*.parquet"))]
    rows: list[dict[str, Any]] = early(query, pa.concat_tables(tables).cast(query.schema)).to_pylist()
    return rows


OLD = ["v1", '{"batchWatermarkMs":7,"batchTimestampMs":9,"conf":{"spark.sql.shuffle.partitions":"2"}}', '{"a":1}']


@pytest.mark.parametrize(
    ("clocks", "sources"),
    [((False, False), ['{"a":1}']), ((True, False), []), ((False, True), ['{"a":1}', "0"])],
)
def test_positions_and_numbers_go_over(tmp_path: Path, clocks: tuple[bool, bool], sources: list[str]) -> None:
    """The last batch that is done, and one that was planned; the clock, the last source, may come or go."""
    old, made = tmp_path / "old", tmp_path / "made"
    log = "\n".join(OLD)
    for name, text in {
        "old/offsets/3": log,
        "old/offsets/4": log,
        "old/offsets/5": log.replace('"batchTimestampMs":9', '"batchTimestampMs":11'),
        "old/commits/4": 'v1\n{"nextBatchWatermarkMs":7}',
        "old/metadata": "the id",
        "old/sources/0/0": "v1 files",
        "old/state/0/0/5.zip": "old",
        "made/offsets/0": log.replace('"2"', '"3"').replace(":7", ":0"),
        "made/commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
        "made/metadata": "another id",
        "made/sources/0/0": "nothing",
        "made/state/0/0/1.zip": "new",
        "made/state/0/0/.1.zip.crc": "of 1.zip",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    source = migrate.Folder.at(str(old))
    stopped = migrate.Stopped.of(source)
    assert stopped == migrate.Stopped(4, planned=True)
    migrate._put_together(source, migrate.Folder.at(str(made)), stopped, clocks)
    files = {str(path.relative_to(made)): path.read_text() for path in made.rglob("*") if path.is_file()}
    version, head, *lines = files.pop("offsets/5").splitlines()
    conf = {"spark.sql.shuffle.partitions": "3"}
    assert (version, lines) == ("v1", sources)
    assert json.loads(head) == {"batchWatermarkMs": 7, "batchTimestampMs": 11, "conf": conf}
    assert files.pop("offsets/3") == files["offsets/4"], "Spark asks for the batch before the last as well"
    assert files.pop("offsets/4").splitlines()[2:] == sources
    assert json.loads(files.pop("commits/4").splitlines()[1]) == {"nextBatchWatermarkMs": 7}
    assert files == {"metadata": "the id", "sources/0/0": "v1 files", "state/0/0/5.zip": "new"}


def test_what_cannot_be_migrated_is_said_before_anything_is_read(tmp_path: Path) -> None:
    session: Any = SimpleNamespace()
    new = bare(ON, "AB")
    with pytest.raises(dv.StateError, match="stream 'A' is a table; a query with one goes on only from its own"):
        new.migrate("old", str(tmp_path / "new"), session=session)
    with pytest.raises(dv.QueryError, match="of=3 is not a query"):
        new.migrate("old", str(tmp_path / "new"), of=3, session=session)  # type: ignore[arg-type]


def test_a_checkpoint_without_a_batch_that_is_done(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    with pytest.raises(dv.StateError, match="has no batch that is done"):
        migrate.Stopped.of(migrate.Folder.at(str(tmp_path)))
