"""Topics that Dovetail reads and writes itself, on a real broker: every result once, over repeats and restarts."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

import dovetail as dv
from dovetail.runtime.kafka.feed import KafkaFeed
from dovetail.runtime.kafka.producer import json_values
from dovetail.runtime.kafka.values import columns_of
from dovetail.runtime.spark.sink.kafka import KafkaTopic
from dovetail.runtime.spark.sink.parquet import ParquetFolder
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.queries import SCHEMA, random_rows
from tests.unit.runtime.test_kafka import SCHEMA as ROWS
from tests.unit.runtime.test_kafka import TABLE, read

pytestmark = pytest.mark.kafka
COLUMNS = ["ts", "k", "row"]
OWN = pa.schema([SCHEMA.field(name) for name in COLUMNS])


def rows_in(address: str, topic: str, schema: pa.Schema) -> pa.Table:
    """All that readers of committed messages find."""
    source = dv.kafka(address, topic)
    feed = KafkaFeed(source)
    values = read(source, feed, feed.initial(), feed.latest(feed.initial()))
    return columns_of(source, values, schema).select(schema.names)


def test_a_batch_of_results_is_one_transaction_and_done_once(address: str, tmp_path: Path) -> None:
    topic = KafkaTopic(dv.kafka(address, "results"), ParquetFolder(dv.parquet(tmp_path)))
    for batch, times in ((0, 1), (1, 2)):
        for _ in range(times):
            written = [topic.write([rows], task, "q") for task, rows in enumerate(TABLE.to_batches(150))]
            topic.commit([each for each in written if each is not None], batch)
    topic.commit([], 2)
    assert not list((tmp_path / "_writing").iterdir())
    found = rows_in(address, "results", ROWS)
    assert found.num_rows == 2 * TABLE.num_rows
    assert sorted(found["k"].to_pylist()) == sorted(TABLE["k"].to_pylist() * 2)


def test_topics_in_and_a_topic_out_over_a_restart(spark: Any, address: str, tmp_path: Path) -> None:
    """Between the two runs a topic gets more partitions, to which what comes is dealt out anew."""
    producer, admin = Producer({"bootstrap.servers": address}), AdminClient({"bootstrap.servers": address})
    pushes = [
        Push({name: random_rows(7 * n + m, 60, 2.5 * n, 2, 100 * n).select(COLUMNS) for m, name in enumerate("AB")})
        for n in (0, 1)
    ]
    data = {name: dv.kafka(address, f"own-{name}", max_rows=50) for name in "AB"}
    times: dict[str, Any] = {"time": "ts", "window": "4 seconds", "delay": "9 seconds"}
    streams = [dv.stream(name, data[name], schema=OWN, **times) for name in "AB"]
    query = dv.join(*streams, on="A.k = B.k", select="A.row AS a, B.row AS b")
    for push in pushes:
        for name, table in push.batch.items():
            for at, value in enumerate(json_values(pa.table(table))):
                producer.produce(f"own-{name}", value, str(at))
        producer.flush()
        sink, checkpoint = dv.kafka(address, "own-pairs"), str(tmp_path / "checkpoint")
        query.write(sink, checkpoint, trigger={"availableNow": True}, session=spark).awaitTermination()
        if push is pushes[0]:
            admin.create_partitions([NewPartitions("own-A", 5)])["own-A"].result(30)
            producer = Producer({"bootstrap.servers": address})  # one that knows of them at once
    assert_same_rows(rows_in(address, "own-pairs", query.schema), oracle(query.model, pushes).rows)
