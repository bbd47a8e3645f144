"""Streams that Dovetail reads itself on Spark: the same rows as from Spark's own source, once each, over restarts."""

import re
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import dovetail as dv
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.source.source import StreamReader
from dovetail.runtime.spark.source.work import Input, options_of
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, build
from tests.unit.runtime.test_files import write, write_twins

ON = "A.k = B.k AND A.x > -1"


def files(folder: Folder, **options: Any) -> dict[str, Any]:
    return {name: dv.files(folder.path / name, **options) for name in folder.names}


def test_rows_are_those_of_the_oracle_over_restarts(spark: Any, tmp_path: Path) -> None:
    """Files come in the order of their times although their last changes say otherwise, one per batch."""
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 4)
    query = build(ON, files(folder, max_files=1))
    found: dict[str, int] = {}
    for some in (batches[:3], batches[3:]):
        folder.feed(some)
        started = folder.run(query.spark(spark))
        for batch in dv.spark_metrics(started):
            for name, totals in batch["streams"].items():
                found[name] = found.get(name, 0) + totals["rows"]
                assert totals["pack_us"] > 0
    rows = spark.read.schema(query.spark(spark).schema).parquet(str(tmp_path / "out")).toArrow().cast(query.schema)
    expected = oracle(query.model, batches).rows
    assert expected.num_rows > 50
    assert_same_rows(rows, expected)
    assert found == {name: sum(push.batch[name].num_rows for push in batches if name in push.batch) for name in "AB"}
    batches_of_files = 4 if spark_version(spark.version) >= (4, 2) else 2  # before 4.2 a start's first has no limit
    assert len(list((tmp_path / "checkpoint" / "offsets").glob("[0-9]*"))) >= batches_of_files


def test_a_file_that_cannot_be_read_ends_the_query_and_is_named(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path, "AB")
    folder.feed(random_batches("AB", 1, 1))
    (tmp_path / "A" / "bad.parquet").write_bytes(b"PAR1 and then nothing")
    query = build(ON, files(folder))
    with pytest.raises(Exception, match=r"A/bad\.parquet cannot be read as parquet.*move it out of the folder"):
        folder.run(query.spark(spark))


def test_a_file_that_gives_way_to_a_twin_while_its_batch_runs_is_named(spark: Any, tmp_path: Path) -> None:
    """The twin has the same size and footer, and takes its place once the batch is planned."""
    file = tmp_path / "A" / "a.parquet"
    folder = Folder(spark, tmp_path, "AB")
    write_twins(file, tmp_path / "twin")
    streams = [dv.stream(name, dv.files(file.parent), time="ts", window="0 seconds") for name in "AB"]
    query = dv.join(*streams, on="A.k = B.k", select="A.k")

    def replace() -> None:
        while not (tmp_path / "checkpoint" / "offsets" / "0").exists():
            time.sleep(0.002)
        (tmp_path / "twin").rename(file)

    frame, replacing = query.spark(spark), threading.Thread(target=replace)
    replacing.start()
    with pytest.raises(Exception, match=r"A/a\.parquet was replaced or written to since its batch was planned"):
        folder.run(frame)
    replacing.join()


def test_tables_and_dataframes_beside_files_of_every_format(spark: Any, tmp_path: Path) -> None:
    """One stream of files, one of files in another format, a table of files, and a DataFrame of Spark's own."""
    folder, (push,) = Folder(spark, tmp_path, "ABCD"), random_batches("ABCD", 4, 1)
    for name, format in zip("ABCD", ("json", "csv", "arrow", "parquet"), strict=True):
        write(push.batch[name].select(["ts", "k", "row"]), format, tmp_path / name / "rows")
    data = {"A": dv.files(tmp_path / "A", "json"), "B": dv.files(tmp_path / "B", "csv"), "D": folder.frame("D")}
    data["C"] = dv.files(tmp_path / "C", "arrow", static=True)
    query = build("A.row = B.row AND B.row = C.row AND C.row = D.row", dict(sorted(data.items())))
    folder.run(query.spark(spark))
    rows = spark.read.schema(query.spark(spark).schema).parquet(str(tmp_path / "out")).toArrow().cast(query.schema)
    expected = oracle(query.model, [push]).rows
    assert expected.num_rows > 5
    assert_same_rows(rows, expected)


def test_columns_that_no_query_needs_are_not_decoded(spark: Any, tmp_path: Path) -> None:
    """Their bytes are damaged, which only those notice who decode them."""
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 5, 2)
    folder.feed(batches)
    for file in tmp_path.glob("[AB]/*.parquet"):
        damage(file, {"g", "x", "n"})
    query = build("A.k = B.k", files(folder))
    folder.run(query.spark(spark))
    rows = spark.read.schema(query.spark(spark).schema).parquet(str(tmp_path / "out")).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, batches).rows)
    for column in ("A.g", "A.x", "A.n"):
        with pytest.raises(dv.DataError, match=r"cannot be read as parquet"):
            build(f"A.k = B.k AND {column} IS NOT NULL", files(folder)).collect()


def damage(file: Path, columns: set[str], groups: set[int] | None = None) -> None:
    """Overwrite what a Parquet file holds of some columns, in some row groups or in all; its footer stays as it is."""
    held, footer = bytearray(file.read_bytes()), pq.read_metadata(file)
    for group in map(footer.row_group, range(footer.num_row_groups) if groups is None else groups):
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema in columns:
                at = column.dictionary_page_offset or column.data_page_offset
                held[at : at + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    file.write_bytes(held)


def test_spark_shuffles_rows_once_however_they_are_dealt_out(spark: Any, tmp_path: Path) -> None:
    """Its stateful operators accept Spark's own hash of the key alone, which no Python source can claim to have."""
    folder = Folder(spark, tmp_path, "AB")
    folder.feed(random_batches("AB", 1, 1))
    own = physical_plan(build("A.k = B.k", files(folder, static=True)).spark(spark))
    assert len(re.findall(r"Exchange hashpartitioning\(bucket", own)) == own.count("Exchange") == 1
    assert re.search(r"Exchange hashpartitioning\(bucket[^\n]*\n[^S]*(\n[^\n]*){0,4}Scan\S* dovetail", own), own
    rows = spark.range(10).selectExpr("CAST(id AS INT) AS bucket")
    for dealt, exchanges in ((rows.repartitionByRange(4, "bucket"), 2), (rows.repartition("bucket"), 1)):
        plan = physical_plan(dealt.groupBy("bucket").transformWithStateInPandas(Nothing(), "x INT", "Append", "None"))
        assert len(re.findall(r"Exchange \w+partitioning", plan)) == exchanges, plan


class Nothing(StatefulProcessor):
    def init(self, handle: Any) -> None: ...

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803
        return iter(())

    def close(self) -> None: ...


def physical_plan(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_tables_alone_are_a_table(spark: Any, tmp_path: Path) -> None:
    folder, batches = Folder(spark, tmp_path, "AB"), random_batches("AB", 4, 2)
    folder.feed(batches)
    query = build(ON, files(folder, static=True), how="left")
    frame = query.spark(spark)
    assert not frame.isStreaming
    whole = Push(
        {name: pa.concat_tables([push.batch[name] for push in batches if name in push.batch]) for name in "AB"}
    )
    assert_same_rows(frame.toArrow().cast(query.schema), oracle(query.model, [whole]).rows)


def test_a_reader_of_topics_travels_before_it_connects() -> None:
    """Spark sends readers to tasks; a connection to a broker cannot be sent."""
    given = Input("A", dv.kafka("nowhere:9092", "clicks"), SCHEMA, ("ts", "k"), "ts", 0)
    options = options_of(
        (given,), {}, Layouts(build("A.k = B.k", dict.fromkeys("AB", SCHEMA.empty_table())).model, 2), 2, False
    )
    reader = cloudpickle.loads(cloudpickle.dumps(StreamReader(options)))  # type: ignore[no-untyped-call]
    assert reader.inputs == (given,)
