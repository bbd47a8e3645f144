"""Streams that Dovetail reads itself on Spark: the same rows as from Spark's own source, once each, over restarts."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

import dovetail as dv
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.runtime.spark.layout import Layouts
from dovetail.runtime.spark.source.source import StreamReader
from dovetail.runtime.spark.source.work import Input, options_of
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, build
from tests.unit.runtime.test_files import write

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
