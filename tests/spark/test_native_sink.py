"""Results as Arrow from the operator to Parquet files: the rows of the oracle, once each, over restarts and repeats."""

import io
import shutil
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import dovetail as dv
from dovetail.cli.run import run_on
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.sql import parse_pipeline
from dovetail.testing import assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, build

ON = "A.k = B.k"


def run(folder: Folder, query: dv.Query, out: str = "out", checkpoint: str = "checkpoint") -> Any:
    """Everything there is, from the checkpoint if there is one."""
    place = str(folder.path / checkpoint)
    started = query.write(dv.parquet(folder.path / out), place, trigger={"availableNow": True}, session=folder.spark)
    started.awaitTermination()
    return started


def written(folder: Folder, query: dv.Query, out: str = "out") -> pa.Table:
    """What a reader finds, batch by batch."""
    batches = sorted((folder.path / out).glob("batch=*"), key=lambda path: int(path.name.partition("=")[2]))
    files = [file for batch in batches for file in sorted(batch.iterdir())]
    return pa.concat_tables([pq.ParquetFile(file).read() for file in files]).cast(query.schema)


@pytest.mark.parametrize("order", ["none", "sync"])
def test_rows_are_those_of_the_oracle_over_repeats(spark: Any, tmp_path: Path, order: str) -> None:
    """The driver dies between the sink's commit and Spark's own: the last batch is written once more."""
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 3)
    query = build(ON, {name: dv.files(tmp_path / name, max_files=1) for name in "AB"}, order=order)
    folder.feed(batches[:2])
    run(folder, query)
    committed = sorted((tmp_path / "checkpoint" / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    committed[-1].unlink()
    committed[-1].with_name(f".{committed[-1].name}.crc").unlink(missing_ok=True)
    folder.feed(batches[2:])
    for _ in range(1 if spark_version(spark.version) >= (4, 2) else 2):  # before 4.2 a run ends with a batch it repeats
        run(folder, query)
    found = written(folder, query)
    expected = oracle(query.model, batches).rows
    assert expected.num_rows > 50
    if order == "none":
        assert_same_rows(found, expected)
    else:
        assert found.num_rows > 20
        assert ordered(found)
    assert not list((tmp_path / "out" / "_writing").glob("*"))


def test_a_session_of_many_partitions_starts_queries_with_few(spark: Any, tmp_path: Path) -> None:
    """As many as there are cores, or as the query asks for; what the session says is the user's, and stays."""
    folder, before = Folder(spark, tmp_path, "AB"), spark.conf.get("spark.sql.shuffle.partitions")
    folder.feed(random_batches("AB", 5, 1))
    found = {}
    try:
        spark.conf.set("spark.sql.shuffle.partitions", "200")
        for asked in (None, 3):
            query = build(ON, {name: dv.files(tmp_path / name) for name in "AB"}, partitions=asked)
            run(folder, query, f"out{asked}", f"checkpoint{asked}")
            found[asked] = len(list((tmp_path / f"checkpoint{asked}" / "state" / "0").glob("[0-9]*")))
            assert spark.conf.get("spark.sql.shuffle.partitions") == "200"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert found == {None: spark.sparkContext.defaultParallelism, 3: 3}


def test_a_folder_of_another_checkpoint_is_left_alone(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    folder.feed(random_batches("AB", 5, 1))
    query = build(ON, {name: dv.files(tmp_path / name) for name in "AB"})
    run(folder, query)
    before = written(folder, query)
    with pytest.raises(Exception, match=r"folder .*out holds results of another checkpoint, and batch 0 would replace"):
        run(folder, query, checkpoint="another")
    assert written(folder, query).equals(before)
    shutil.rmtree(tmp_path / "out")


def test_what_is_no_sink_is_refused(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    folder.feed(random_batches("AB", 5, 1))
    query = build(ON, {name: dv.files(tmp_path / name, static=True) for name in "AB"})
    with pytest.raises(dv.QueryError, match=r"a sink is made with dovetail\.parquet\(path\), .*, not 'out'"):
        query.write("out", "checkpoint", session=spark)
    with pytest.raises(dv.PlanError, match="all inputs are tables"):
        query.write(dv.parquet("out"), "checkpoint", session=spark)
    with pytest.raises(dv.QueryError, match="compression='rar': it is one of 'snappy'"):
        dv.parquet("out", "rar")


def test_a_pipeline_file_chooses_both_ends(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 4, 2)
    folder.feed(batches)
    columns = "(ts TIMESTAMP, k BIGINT, row BIGINT, WATERMARK FOR ts AS ts - INTERVAL '3' SECOND)"
    streams = [
        f"CREATE STREAM {name} {columns} WITH (format = 'parquet', path = '{tmp_path}/{name}', reader = 'dovetail');"
        for name in "AB"
    ]
    sink = f"format = 'parquet', path = '{tmp_path}/out', checkpoint = '{tmp_path}/checkpoint', writer = 'dovetail'"
    select = "SELECT A.row AS a, B.row AS b FROM A, B WHERE A.k = B.k WINDOW 4 SECONDS"
    text = io.StringIO()
    pipeline = parse_pipeline("".join(streams) + f"INSERT INTO pairs WITH ({sink}) {select}")
    assert run_on(spark, pipeline, Event(), Console(file=text), once=True) is None
    query = build(ON, {name: SCHEMA.empty_table() for name in "AB"})
    expected = oracle(query.model, batches).rows
    assert_same_rows(written(folder, query), expected)
    rows = sum(table.num_rows for push in batches for table in push.batch.values())
    assert f"{rows:,} rows in, {expected.num_rows:,} results" in text.getvalue()


@pytest.mark.slow
def test_a_pipeline_file_has_late_rows_written_to_their_folder(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 4, 2)
    columns = "(ts TIMESTAMP, k BIGINT, row BIGINT, WATERMARK FOR ts AS ts - INTERVAL '3' SECOND)"
    streams = "".join(
        f"CREATE STREAM {name} {columns} WITH (format = 'parquet', path = '{tmp_path}/{name}', reader = 'dovetail');"
        for name in "AB"
    )
    sink = f"format = 'parquet', path = '{tmp_path}/out', checkpoint = '{tmp_path}/checkpoint', writer = 'dovetail'"
    select = "SELECT A.row AS a, B.row AS b FROM A, B WHERE A.k = B.k WINDOW 4 SECONDS"
    text = f"{streams} INSERT INTO pairs WITH ({sink}, late = 'divert', late_path = '{tmp_path}/late') {select}"
    for push in reversed(batches):
        folder.feed([push])
        assert run_on(spark, parse_pipeline(text), Event(), Console(file=io.StringIO()), once=True) is None
    expected = oracle(build(ON, {name: SCHEMA.empty_table() for name in "AB"}).model, list(reversed(batches)))
    found = spark.read.parquet(f"{tmp_path}/late").select("stream", "reason").collect()
    late = {name: sum(row.stream == name and row.reason == "late" for row in found) for name in "AB"}
    assert sum(late.values()) == len(found) > 0
    assert late == {name: expected.late[name] for name in "AB"}
