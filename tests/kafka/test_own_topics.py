"""Topics that Dovetail reads and writes itself, on a real broker: every result once, over repeats and restarts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

import dovetail as dv
from dovetail.runtime.kafka.feed import KafkaFeed
from dovetail.runtime.kafka.producer import json_values
from dovetail.runtime.kafka.values import columns_of
from dovetail.runtime.spark.sink.kafka import KafkaTopic
from dovetail.runtime.spark.sink.parquet import ParquetFolder
from dovetail.testing import Push, assert_same_rows, oracle
from tests.spark.queries import SCHEMA, random_rows
from tests.unit.runtime.test_kafka import SCHEMA as ROWS
from tests.unit.runtime.test_kafka import TABLE, encoded, framed_as, read

pytestmark = pytest.mark.kafka
COLUMNS = ["ts", "k", "row"]
OWN = pa.schema([SCHEMA.field(name) for name in COLUMNS])


def rows_in(address: str, topic: str, schema: pa.Schema) -> pa.Table:
    """All that readers of committed messages find."""
    source = dv.kafka(address, topic)
    feed = KafkaFeed(source)
    values = read(source, feed, feed.initial(), feed.latest(feed.initial()))
    return columns_of(source, values, schema).select(schema.names)


def send(address: str, messages: Mapping[str, Iterable[bytes]], partitions: int) -> None:
    """Values into topics, dealt out to so many partitions by a client that has just come to know them."""
    producer = Producer({"bootstrap.servers": address})
    for topic, values in messages.items():
        for at, value in enumerate(values):
            producer.produce(topic, value, partition=at % partitions)
    assert producer.flush(60) == 0


def query_of(data: Mapping[str, dv.Kafka]) -> dv.Query:
    """Pairs of rows of two topics."""
    times: dict[str, Any] = {"time": "ts", "window": "4 seconds", "delay": "9 seconds"}
    streams = [dv.stream(name, topic, schema=OWN, **times) for name, topic in data.items()]
    return dv.join(*streams, on="A.k = B.k", select="A.row AS a, B.row AS b")


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
    query = query_of(data)
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


def test_partitions_are_added_while_a_query_runs(spark: Any, address: str, tmp_path: Path) -> None:
    """What comes into them is read from their first message on, by the query that runs."""
    admin = AdminClient({"bootstrap.servers": address})
    for each in admin.create_topics([NewTopic(f"grown-{name}", 1) for name in "AB"]).values():
        each.result(30)
    pushes = [
        Push({name: random_rows(5 * n + m, 60, 2.5 * n, 2, 100 * n).select(COLUMNS) for m, name in enumerate("AB")})
        for n in range(3)
    ]
    query = query_of({name: dv.kafka(address, f"grown-{name}", max_rows=50) for name in "AB"})
    running = query.write(dv.kafka(address, "grown-pairs"), str(tmp_path / "checkpoint"), session=spark)
    try:
        for count, push in zip((1, 3, 5), pushes, strict=True):
            if count > 1:
                grown = admin.create_partitions([NewPartitions(f"grown-{name}", count) for name in "AB"])
                assert [each.result(30) for each in grown.values()] == [None, None]
            send(address, {f"grown-{name}": json_values(pa.table(rows)) for name, rows in push.batch.items()}, count)
            running.processAllAvailable()
        position = json.loads(running.lastProgress.sources[0].endOffset)["A"]
        assert [number for number in position if number.isdigit()] == [str(number) for number in range(5)]
        assert all(position[str(number)] > 0 for number in range(5))
    finally:
        running.stop()
    assert_same_rows(rows_in(address, "grown-pairs", query.schema), oracle(query.model, pushes).rows)


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("format", ["avro", "protobuf"])
def test_values_of_other_formats_are_joined(
    spark: Any, address: str, tmp_path: Path, format: str, framed: bool
) -> None:
    values, options = encoded(format)
    sent = framed_as(format, values) if framed else values
    topics = {name: f"{format}-{framed}-{name}" for name in "AB"}
    send(address, {topics["A"]: sent[:200], topics["B"]: sent[100:]}, 2)
    data = {name: dv.kafka(address, topic, format, framed=framed, **options) for name, topic in topics.items()}
    streams = [dv.stream(name, data[name], schema=ROWS, time="ts", window="5 ms", delay="9 seconds") for name in "AB"]
    query = dv.join(*streams, on="A.k = B.k", select="A.k, A.name AS a, B.name AS b, A.ts")
    checkpoint = str(tmp_path / "checkpoint")
    query.write(
        dv.parquet(tmp_path / "out"), checkpoint, trigger={"availableNow": True}, session=spark
    ).awaitTermination()
    found = pq.ParquetDataset(tmp_path / "out", partitioning=None).read()
    expected = oracle(query.model, [Push({"A": TABLE.slice(0, 200), "B": TABLE.slice(100)})]).rows
    assert expected.num_rows == 100
    assert_same_rows(found.cast(query.schema), expected)
