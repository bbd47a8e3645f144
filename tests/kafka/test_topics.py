"""Three topics in, one out; the job is killed and started again in between; the rows are those of the oracle.

Keys are skewed, so that one partition of each topic holds most rows; rows are out of order; shipments trail behind.
Spark's Kafka sink writes a batch once more if it was killed while writing it, so every row is counted once.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dovetail.testing import Push, assert_same_rows, oracle
from examples.kafka.join_topics import PER_BATCH, settled

ROOT = Path(__file__).parents[2]
TOPICS = {"orders": 0.0, "payments": 1.5, "shipments": 6.0}  # and how many seconds each trails behind the orders
ROWS, SECONDS = 600, 120
PATIENCE_MS = 900_000  # with a busy machine
pytestmark = pytest.mark.kafka


def rows_of(lag: float, seed: int) -> pa.Table:
    """A stream in order of arrival; two seconds of disorder, few orders with many rows."""
    random = np.random.default_rng(seed)
    times = 1_780_000_000 + np.sort(random.random(ROWS)) * SECONDS + lag - random.random(ROWS) * 2
    columns = {
        "order_id": np.minimum(random.zipf(1.3, ROWS), 400),
        "ts": pa.array((times * 1000).astype(np.int64) * 1000).cast(pa.timestamp("us", "UTC")),  # JSON has milliseconds
        "amount": np.round(random.random(ROWS) * 100, 2),
    }
    return pa.table(columns)


def produce(spark: Any, address: str, topic: str, rows: pa.Table) -> None:
    messages = spark.createDataFrame(rows).coalesce(1)
    messages = messages.selectExpr("CAST(order_id AS STRING) AS key", "to_json(struct(*)) AS value")
    writer = messages.write.format("kafka").option("kafka.bootstrap.servers", address).option("topic", topic)
    writer.option("kafka.delivery.timeout.ms", PATIENCE_MS).option("kafka.enable.idempotence", False).save()


def consume(spark: Any, address: str, topic: str) -> Any:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", address)
    return reader.option("subscribe", topic).load()


@contextmanager
def job(address: str, folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """The example as a process of its own; at the end of the block its driver, Java and workers are killed at once."""
    command = [sys.executable, "-m", "examples.kafka.join_topics", address, str(folder / "checkpoint")]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def finished_batches(folder: Path) -> int:
    return len(list((folder / "checkpoint" / "commits").glob("[0-9]*")))


def run_until(batches: int, address: str, folder: Path) -> None:
    """Killed in the middle of whatever comes after so many batches."""
    with job(address, folder) as process:
        while process.poll() is None and finished_batches(folder) < batches:
            time.sleep(0.05)
        assert process.poll() is None, (folder / "log").read_text()[-3000:]


def run_to_the_end(address: str, folder: Path) -> None:
    with job(address, folder) as process:
        assert process.wait(timeout=900) == 0, (folder / "log").read_text()[-3000:]


def test_killed_and_started_again_it_gives_the_rows_of_the_oracle(
    kafka_spark: Any, address: str, tmp_path: Path
) -> None:
    tables = {topic: rows_of(lag, seed) for seed, (topic, lag) in enumerate(TOPICS.items())}
    for topic, rows in tables.items():
        produce(kafka_spark, address, topic, rows)
    sizes = consume(kafka_spark, address, "orders").groupBy("partition").count().toPandas()["count"]
    assert max(sizes) > 1.5 * min(sizes), "partitions are skewed"

    run_until(1, address, tmp_path)
    assert 1 <= finished_batches(tmp_path) < ROWS // PER_BATCH
    run_to_the_end(address, tmp_path)

    query = settled(*tables.values())
    expected = oracle(query.model, [Push(dict(zip("OPS", tables.values(), strict=True)))]).rows
    expected = expected.group_by(expected.column_names).aggregate([])
    assert expected.num_rows > 200
    found = consume(kafka_spark, address, "settled").selectExpr("CAST(value AS STRING) AS value").distinct()
    shape = "result_time timestamp, order_id long, ordered timestamp, paid timestamp, shipped timestamp"
    found = found.selectExpr(f"from_json(value, '{shape}') AS row").select("row.*").toArrow()
    assert_same_rows(found.cast(query.schema), expected.cast(query.schema))
