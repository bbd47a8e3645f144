"""A pipeline file of several queries on Spark: one join, a sink for each, going on when queries come and go."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dovetail as dv
from dovetail.cli import app
from tests.language.test_run import START, Lent, comparable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = """CREATE STREAM {name} (location STRING, value DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts)
    WITH (format = 'parquet', path = '{folder}/{name}');"""
INSERT = """INSERT INTO {name} WITH (format = '{format}', path = '{folder}/{name}', checkpoint = '{folder}/{name}.kept')
{query};"""
QUERIES = {
    "near": """SELECT T.location, T.value AS t FROM Temperature T, Humidity H WHERE T.location = H.location
        WINDOW 5 SECONDS""",
    "hot": """SELECT a.value AS t, b.value AS h FROM Humidity b, Temperature a WHERE a.location = b.location
        AND a.value > 30 WINDOW 20 SECONDS""",
    "wide": """SELECT T.location, H.value AS h FROM Temperature T, Humidity H WHERE H.location = T.location
        WINDOW 40 SECONDS""",
    "count": "SELECT COUNT(*) AS n FROM Temperature T, Humidity H WHERE T.location = H.location WINDOW 5 SECONDS",
}
NAMES = ("Temperature", "Humidity")


def rows(first: int, count: int) -> pa.Table:
    """A reading every three seconds."""
    at = range(first, first + count)
    columns = {
        "location": [f"rack {number % 4}" for number in at],
        "value": [20.0 + number for number in at],
        "ts": [START + timedelta(seconds=3 * number) for number in at],
    }
    return pa.table(columns)


@pytest.fixture
def run(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command over a file of some of the queries, once what has come is written down."""
    monkeypatch.setattr("dovetail.runtime.spark.session.spark_session", lambda **_: Lent(spark))
    for name in NAMES:
        (tmp_path / name).mkdir()

    def command(first: int, count: int, *queries: str) -> Any:
        for name in NAMES:
            pq.write_table(rows(first, count), tmp_path / name / f"{first}.parquet")
        streams = [STREAM.format(name=name, folder=tmp_path) for name in NAMES]
        forms = {"hot": "json"}
        inserts = [
            INSERT.format(name=name, folder=tmp_path, format=forms.get(name, "parquet"), query=QUERIES[name])
            for name in queries
        ]
        (tmp_path / "pipeline.sql").write_text("\n".join([*streams, *inserts]))
        done = CliRunner().invoke(app, ["run", str(tmp_path / "pipeline.sql"), "--once"])
        assert done.exit_code == 0, done.output
        return done.output

    return command


def alone(name: str, first: int, count: int) -> pa.Table:
    return dv.sql(QUERIES[name], *(dv.stream(each, rows(first, count), time="ts") for each in NAMES)).collect()


def test_several_queries_are_one_join_and_go_on_when_others_come_and_go(
    run: Callable[..., Any], spark: "SparkSession", tmp_path: Path
) -> None:
    first = run(0, 20, "near", "hot", "count")
    assert sorted(line.partition(":")[0] for line in first.splitlines()[-2:]) == ["count", "near, hot"]
    second = run(20, 20, "hot", "wide")
    assert second.splitlines()[-1].startswith("hot, wide: ")
    near = pq.read_table(tmp_path / "near").drop(["batch"])
    assert comparable(near) == comparable(alone("near", 0, 20))
    hot = spark.read.schema("result_time timestamp, t double, h double").json(str(tmp_path / "hot" / "*")).toArrow()
    assert comparable(hot) == comparable(alone("hot", 0, 40)), "its state was in the checkpoint of a query that left"
    wide, expected = pq.read_table(tmp_path / "wide").drop(["batch"]), alone("wide", 0, 40)
    assert wide.num_rows
    assert set(comparable(wide)) < set(comparable(expected))
    late = comparable(alone("wide", 20, 20))
    assert set(late) < set(comparable(wide)), "over what was stored already, too"
    assert not (tmp_path / "wide.kept" / "offsets").exists()
    assert (tmp_path / "near.kept" / "offsets").exists()


def test_sinks_without_a_checkpoint_share_and_leave_nothing(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.language.test_shared_run.INSERT", "INSERT INTO {name} WITH (format = 'noop') {query};")
    shown = run(0, 20, "near", "hot")
    expected = sum(alone(name, 0, 20).num_rows for name in ("near", "hot"))
    assert shown.splitlines()[-1] == f"near, hot: 1 batches, 40 rows in, {expected} results"
