"""A pipeline file on Spark: Parquet in, Parquet out; types; what cannot be started."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dovetail as dv
from dovetail.cli import app
from dovetail.cli.run import frame
from dovetail.sql import parse_pipeline
from tests.language.cases import all_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2026, 7, 1, 12, tzinfo=UTC)
QUERY = """SELECT T.location, T.value AS temperature, H.value AS humidity
FROM Temperature T, Humidity H
WHERE T.location = H.location AND T.value > 40
WINDOW 1 MINUTE"""
FILE = """
CREATE STREAM Temperature (location STRING, value DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'parquet', path = '{folder}/Temperature');
CREATE STREAM Humidity (location STRING, value DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'parquet', path = '{folder}/Humidity');
INSERT INTO alarms WITH (format = 'parquet', path = '{folder}/out', checkpoint = '{folder}/checkpoint')
{query};
"""


class Lent:
    """The session of all tests, which the command must not stop."""

    def __init__(self, session: "SparkSession") -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def stop(self) -> None:
        """Left running for the other tests."""


@pytest.fixture
def run(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """The command, over the session of all tests."""
    monkeypatch.setattr("dovetail.runtime.spark.session.spark_session", lambda **_: Lent(spark))
    file = tmp_path / "pipeline.sql"
    file.write_text(FILE.format(folder=tmp_path, query=QUERY))
    return lambda: CliRunner().invoke(app, ["run", str(file), "--once"])


def rows(stream: str) -> pa.Table:
    """A reading every three seconds, for a minute and a half."""
    first = 20.0 if stream == "Temperature" else 80.0
    columns = {
        "location": [f"rack {at % 4}" for at in range(30)],
        "value": [first + at for at in range(30)],
        "ts": [START + timedelta(seconds=3 * at) for at in range(30)],
    }
    return pa.table(columns)


def comparable(table: pa.Table) -> list[tuple[Any, ...]]:
    times = table["result_time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    return sorted(tuple(row.values()) for row in table.set_column(0, "result_time", times).to_pylist())


def test_parquet_in_and_out(run: Callable[[], Any], tmp_path: Path) -> None:
    for name in ("Temperature", "Humidity"):
        (tmp_path / name).mkdir()
        pq.write_table(rows(name), tmp_path / name / "rows.parquet")
    done = run()
    assert done.exit_code == 0, done.output
    expected = dv.sql(
        QUERY, *(dv.stream(name, rows(name), time="ts") for name in ("Temperature", "Humidity"))
    ).collect()
    assert expected.num_rows
    assert comparable(pq.read_table(tmp_path / "out")) == comparable(expected)
    assert f"60 rows in, {expected.num_rows} results" in done.output.splitlines()[-1]


def test_files_in_another_order_than_their_times_are_said_to_be_late(run: Callable[[], Any], tmp_path: Path) -> None:
    """The newest file of Temperature is read first, one file per batch: of the others, all rows that pass are late."""
    file = tmp_path / "pipeline.sql"
    text = file.read_text().replace("value > 40", "value > 25")
    file.write_text(text.replace("/Temperature'", "/Temperature', maxFilesPerTrigger = 1"))
    for name, order in (("Temperature", (2, 0, 1)), ("Humidity", (0,))):
        (tmp_path / name).mkdir()
        for changed, part in enumerate(order):
            path = tmp_path / name / f"{part}.parquet"
            pq.write_table(rows(name).slice(10 * part, 10), path)
            os.utime(path, (1_000_000 + changed, 1_000_000 + changed))
    done = run()
    assert done.exit_code == 0, done.output
    before, *_, late, warning, summary = done.output.splitlines()
    assert before.startswith("warning: 2 of Temperature's 3 files have rows that will be late")
    assert late == "alarms: 14 of T's rows were late (58%)"
    assert warning.startswith("warning: alarms: ")
    assert "40 rows in" in summary


def test_what_spark_cannot_do_is_said_in_one_line(run: Callable[[], Any], tmp_path: Path) -> None:
    failed = run()
    assert failed.exit_code == 1
    assert "Temperature" in failed.output
    assert len(failed.output.splitlines()) == 1


def test_declared_types_are_those_that_spark_hands_over(spark: "SparkSession", tmp_path: Path) -> None:
    (case,) = (case for case in all_cases("pipelines/good") if case.title == "every type")
    (declared,) = parse_pipeline(case.text.replace("'/a'", f"'{tmp_path}'")).streams
    found = dv.stream("A", frame(spark, declared), time=declared.time).schema
    assert found == declared.schema


def test_sources_with_columns_of_their_own_are_cast(spark: "SparkSession") -> None:
    text = """CREATE STREAM A (value INT, timestamp TIMESTAMP_NTZ, WATERMARK FOR timestamp AS timestamp)
        WITH (format = 'rate', rowsPerSecond = 5);
        INSERT INTO s WITH (format = 'noop') SELECT x.value FROM A x, A y WHERE x.value = y.value WINDOW 1 SECOND"""
    (declared,) = parse_pipeline(text).streams
    assert dv.stream("A", frame(spark, declared), time="timestamp").schema == declared.schema
