"""Streams made of results and of other streams, on Spark: as the same joins one after the other, embedded."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dovetail as dv
from dovetail.cli import app
from tests.language.test_run import Lent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema({"k": pa.int64(), "v": pa.float64(), "ts": pa.timestamp("us", "UTC")})
SECOND = 1_000_000
STREAM = (
    "(k BIGINT, v DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'parquet', path = '{folder}/{name}');"
)
FILE = """
CREATE STREAM readings AS SELECT * FROM North UNION ALL SELECT * FROM South;
CREATE STREAM pairs AS SELECT R.k, O.v FROM readings R, Other O WHERE R.k = O.k WINDOW 4 SECONDS;
INSERT INTO out WITH (format = 'parquet', path = '{folder}/out', checkpoint = '{folder}/checkpoint', partitions = 2)
SELECT P.k, P.v, N.v AS north FROM pairs P, North N WHERE P.k = N.k AND P.v < N.v WINDOW 6 SECONDS;
"""

pytestmark = pytest.mark.spark


def rows(shift: int) -> pa.Table:
    return pa.table(
        {
            "k": [(at * (shift + 2)) % 5 for at in range(40)],
            "v": [float((at * 7 + shift) % 11) for at in range(40)],
            "ts": [(10 + at) * SECOND + shift for at in range(40)],
        }
    ).cast(SCHEMA)


def test_a_chain_of_queries_in_one_file(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.runtime.spark.session.spark_session", lambda **_: Lent(spark))
    tables = {name: rows(shift) for shift, name in enumerate(("North", "South", "Other"))}
    text = ""
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "rows.parquet")
        text += f"CREATE STREAM {name} {STREAM.format(folder=tmp_path, name=name)}\n"
    file = tmp_path / "pipeline.sql"
    file.write_text(text + FILE.format(folder=tmp_path))
    done = CliRunner().invoke(app, ["run", str(file), "--once"])
    assert done.exit_code == 0, done.output
    readings = pa.concat_tables([tables["North"], tables["South"]])
    pairs = dv.join(
        dv.stream("R", readings, time="ts", window="4 seconds"),
        dv.stream("O", tables["Other"], time="ts", window="4 seconds"), on="R.k = O.k", select="R.k, O.v",
    ).collect()  # fmt: skip
    expected = dv.join(
        dv.stream("P", pairs, time="result_time", window="6 seconds"),
        dv.stream("N", tables["North"], time="ts", window="6 seconds"),
        on="P.k = N.k AND P.v < N.v", select="P.k, P.v, N.v AS north",
    ).collect()  # fmt: skip
    found = spark.read.parquet(str(tmp_path / "out")).toArrow()
    missing = [row for row in counted(expected) if row not in counted(found)]
    assert counted(found) <= counted(expected), "never a wrong row"
    last = pairs["result_time"].cast(pa.int64()).to_pylist()[-1]
    assert all(row[0] >= last - 6 * SECOND for row in missing), "what is missing may still come"
    assert len(counted(found)) > 100


def counted(table: pa.Table) -> set[tuple[Any, ...]]:
    """Rows, each with how many equal ones came before it."""
    seen: dict[tuple[Any, ...], int] = {}
    found = set()
    for row in table.set_column(0, "t", table.column(0).cast(pa.timestamp("us", "UTC")).cast(pa.int64())).to_pylist():
        values = tuple(row.values())
        seen[values] = seen.get(values, 0) + 1
        found.add((*values, seen[values]))
    return found
