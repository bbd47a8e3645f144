"""Sources that Spark brings: files of each kind, lines from a socket, and rows made by the clock."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.queries import random_rows

COLUMNS = ["ts", "k", "row"]
DDL = "ts timestamp, k long, row long"


def tables() -> dict[str, pa.Table]:
    return {name: random_rows(seed, 40).select(COLUMNS) for seed, name in enumerate("AB")}


def query_of(inputs: dict[str, Any]) -> dv.Query:
    streams = [dv.stream(name, data, time="ts", window="1 second", delay="4 seconds") for name, data in inputs.items()]
    return dv.join(*streams, on="A.k = B.k", select="A.row AS a, B.row AS b")


def write(table: pa.Table, kind: str, file: Path) -> None:
    """As another program would write it."""
    file.parent.mkdir()
    if kind == "parquet":
        pq.write_table(table, file)
    elif kind == "csv":
        csv.write_csv(table, file, csv.WriteOptions(include_header=True))
    else:
        file.write_text("\n".join(json.dumps(row, default=datetime.isoformat) for row in table.to_pylist()))


def finished(frame: Any, name: str, folder: Path) -> Any:
    writer = frame.writeStream.format("memory").queryName(name).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    return frame.sparkSession.table(name)


def stop_after(rows: int, started: Any, spark: Any) -> None:
    """Let a query run until its table in memory has so many rows."""
    while spark.table(started.name).count() < rows:
        assert started.isActive, started.exception()
        time.sleep(0.1)
    started.stop()


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_files(spark: Any, tmp_path: Path, kind: str) -> None:
    expected = tables()
    for name, table in expected.items():
        write(table, kind, tmp_path / name / f"rows.{kind}")
    reader = spark.readStream.schema(DDL).format(kind).option("header", True)
    query = query_of({name: reader.load(str(tmp_path / name)) for name in expected})
    found = finished(query.spark(), f"from_{kind}", tmp_path).toArrow().cast(query.schema)
    assert_same_rows(found, oracle(query.model, [Push(expected)]).rows)


@contextmanager
def served(lines: list[str]) -> Iterator[int]:
    """A port on which whoever connects is told these lines."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        talking = Thread(target=_tell, args=(server, "".join(f"{line}\n" for line in lines)), daemon=True)
        talking.start()
        yield server.getsockname()[1]


def _tell(server: socket.socket, text: str) -> None:
    listener, _ = server.accept()
    listener.sendall(text.encode())


def test_lines_from_sockets(spark: Any, tmp_path: Path) -> None:
    expected = tables()
    lines = {name: [",".join(map(str, row.values())) for row in rows.to_pylist()] for name, rows in expected.items()}
    with served(lines["A"]) as a, served(lines["B"]) as b:
        inputs = {}
        for name, port in (("A", a), ("B", b)):
            read = spark.readStream.format("socket").option("host", "127.0.0.1").option("port", port).load()
            inputs[name] = read.selectExpr(f"from_csv(value, '{DDL}') AS row").select("row.*")
        query = query_of(inputs)
        whole = oracle(query.model, [Push(expected)]).rows
        writer = query.spark().writeStream.format("memory").queryName("from_sockets")
        stop_after(len(whole), writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start(), spark)
    assert_same_rows(spark.table("from_sockets").toArrow().cast(query.schema), whole)


@pytest.mark.slow
def test_rows_made_by_the_clock(spark: Any, tmp_path: Path) -> None:
    """The rate source in steps of a batch: as many rows in each, a second apart."""
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 20).option("numPartitions", 2)
    numbers = rate.option("startTimestamp", 0).option("advanceMillisPerBatch", 1000).load()
    made = numbers.selectExpr("timestamp AS ts", "value % 5 AS k", "value AS row")
    query = query_of({"A": made.where("row % 2 = 0"), "B": made.where("row % 2 = 1")})
    writer = query.spark().writeStream.format("memory").queryName("from_rate")
    started = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    stop_after(100, started, spark)
    found = spark.table("from_rate").selectExpr("a % 5 = b % 5 AND abs(a DIV 20 - b DIV 20) <= 1 AS inside")
    assert found.distinct().collect() == [(True,)]
