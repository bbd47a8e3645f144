"""Topics as the data of streams, against the client library's own broker in this process: positions and values."""

import json
import struct
from typing import Any

import confluent_kafka
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import dovetail as dv
from dovetail.runtime.kafka.client import Topic
from dovetail.runtime.kafka.feed import KafkaFeed, Messages
from dovetail.runtime.kafka.producer import json_values
from dovetail.runtime.kafka.values import columns_of

SCHEMA = pa.schema({"ts": pa.timestamp("us", "UTC"), "k": pa.int64(), "name": pa.string()})
START = 1_780_000_000_000_000
ROWS: list[dict[str, Any]] = [
    {"ts": START + n * 1000, "k": n - 2, "name": None if n % 3 == 0 else f"é {n}"} for n in range(300)
]
TABLE = pa.table({name: [row[name] for row in ROWS] for name in SCHEMA.names}).cast(SCHEMA)
AVRO = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "k", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
    ],
}


@pytest.fixture(scope="module")
def broker() -> Any:
    return Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})


def servers(broker: Any) -> str:
    (found,) = broker.list_topics(timeout=10).brokers.values()
    return f"{found.host}:{found.port}"


def send(broker: Any, topic: str, values: list[bytes | None], partition: int = 0) -> None:
    for value in values:
        broker.produce(topic, value, partition=partition)
    assert broker.flush(30) == 0


def read(source: dv.Kafka, feed: KafkaFeed, start: Any, end: Any) -> list[bytes]:
    topic, pieces = Topic(source), feed.pieces(start, end)
    found = [value for each in pieces for some in topic.values(each.partition, each.first, each.last) for value in some]
    topic.close()
    return found


def test_batches_go_from_position_to_position(broker: Any) -> None:
    sent = {number: [f"{number} {n}".encode() for n in range(40 * (number + 1))] for number in (0, 1)}
    for number, values in sent.items():
        send(broker, "counted", values, number)  # type: ignore[arg-type]
    source = dv.kafka(servers(broker), "counted", max_rows=30)
    feed, found, sizes = KafkaFeed(source), [], []
    at = feed.initial()
    feed.freeze()
    send(broker, "counted", [b"later"])
    while (end := feed.latest(at)) != at:
        end = json.loads(json.dumps(end))
        some = read(source, feed, at, end)
        sizes.append(len(some))
        found += some
        at = end
    assert sorted(found) == sorted(value for values in sent.values() for value in values)
    assert max(sizes) <= 31, "a little more than the limit where shares are rounded up"
    assert len(sizes) == 4
    fresh = KafkaFeed(source)
    assert read(source, fresh, at, fresh.latest(at)) == [b"later"], "what came after the freeze is for the next run"
    ends = fresh.latest(None)
    assert read(source, fresh, at, ends) == [b"later"], "a start that nobody told takes all there is"
    assert KafkaFeed(dv.kafka(servers(broker), "counted", begin="latest")).initial() == ends
    assert fresh.silent(ends) == ends


@pytest.mark.parametrize("begin", ["earliest", "latest"])
def test_a_first_batch_that_is_repeated_has_the_same_messages(broker: Any, begin: str) -> None:
    """Whatever has come since: nobody has noted where it began, but its end says so."""
    topic = f"first-{begin}"
    send(broker, topic, [b"before"])
    source = dv.kafka(servers(broker), topic, begin=begin)
    feed = KafkaFeed(source)
    start = feed.initial()
    send(broker, topic, [b"1", b"2"])
    end, wanted = feed.latest(start), [b"before", b"1", b"2"] if begin == "earliest" else [b"1", b"2"]
    send(broker, topic, [b"3"])
    assert feed.initial() == start
    assert read(source, feed, start, end) == wanted
    again = KafkaFeed(source)
    assert read(source, again, again.initial(), json.loads(json.dumps(end))) == wanted
    assert read(source, again, end, again.latest(end)) == [b"3"]
    assert read(source, again, end, again.silent(end)) == []


def test_what_is_gone_is_named(broker: Any) -> None:
    send(broker, "short", [b"1", b"2"])
    feed = KafkaFeed(dv.kafka(servers(broker), "short"))
    with pytest.raises(dv.DataError, match=r"'short', partition 0: message 7 is to be read next, and there are 0 to 1"):
        feed.latest({"0": 7})
    with pytest.raises(dv.DataError, match=r"topic 'short' has no partition 99 any more"):
        feed.pieces({"99": 0}, {"99": 5})


def test_a_partition_that_has_no_leader_for_a_moment_is_asked_again(
    broker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(broker, "moving", [b"1", b"2"])
    asked: list[int] = []

    class Moving(confluent_kafka.Consumer):
        def get_watermark_offsets(self, *arguments: Any) -> Any:
            asked.append(1)
            if len(asked) < 3:
                raise confluent_kafka.KafkaException(confluent_kafka.KafkaError(code))
            return super().get_watermark_offsets(*arguments)

    monkeypatch.setattr(confluent_kafka, "Consumer", Moving)
    code = confluent_kafka.KafkaError.NOT_LEADER_FOR_PARTITION
    assert Topic(dv.kafka(servers(broker), "moving")).reach()[0] == (0, 2)
    asked.clear()
    code = confluent_kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED
    with pytest.raises(dv.DataError, match=r"topic 'moving' at .*TOPIC_AUTHORIZATION_FAILED"):
        Topic(dv.kafka(servers(broker), "moving")).reach()


def encoded(format: str) -> tuple[list[bytes], dict[str, Any]]:
    """The rows as messages of a format, and the options that tell how to read them."""
    if format == "json":
        texts = TABLE.set_column(0, "ts", TABLE["ts"].cast(pa.string())).to_pylist()
        return [json.dumps(row | {"more": [1]}, indent=1).encode() for row in texts], {}
    if format == "avro":
        return [_avro(**row) for row in ROWS], {"value_schema": json.dumps(AVRO)}
    file = descriptor_pb2.FileDescriptorProto(name="rows.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    message = file.message_type.add(name="Row")
    kinds = descriptor_pb2.FieldDescriptorProto
    message.field.add(name="ts", number=1, type=kinds.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp", label=1)
    message.field.add(name="k", number=2, type=kinds.TYPE_INT64, label=1)
    message.field.add(name="name", number=3, type=kinds.TYPE_STRING, label=1, proto3_optional=True, oneof_index=0)
    message.oneof_decl.add(name="_name")
    from google.protobuf import timestamp_pb2

    stamp = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(stamp)
    pool = descriptor_pool.DescriptorPool()
    for each in (stamp, file):
        pool.Add(each)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Row"))
    values = []
    for row in ROWS:
        one = made(k=row["k"], name=row["name"])
        one.ts.seconds, one.ts.nanos = row["ts"] // 1_000_000, row["ts"] % 1_000_000 * 1000
        values.append(one.SerializeToString())
    described = descriptor_pb2.FileDescriptorSet(file=[stamp, file]).SerializeToString()
    return values, {"value_schema": described, "message": "shop.Row"}


def framed_as(format: str, values: list[bytes]) -> list[bytes]:
    """The values behind a schema registry's header."""
    head = struct.pack(">bI", 0, 17) + (b"\x00" if format == "protobuf" else b"")
    return [head + value for value in values]


def _avro(ts: int, k: int, name: str | None) -> bytes:
    text = b"" if name is None else name.encode()
    return _long(ts) + _long(k) + (_long(0) if name is None else _long(1) + _long(len(text)) + text)


def _long(number: int) -> bytes:
    number, digits = (number << 1) ^ (number >> 63), bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("format", ["json", "avro", "protobuf"])
def test_values_are_columns(format: str, framed: bool) -> None:
    values, options = encoded(format)
    values = framed_as(format, values) if framed else values
    source = dv.kafka("x:1", "rows", format, framed=framed, **options)
    assert columns_of(source, values, SCHEMA).select(SCHEMA.names).cast(SCHEMA).equals(TABLE)


@pytest.mark.parametrize("format", ["json", "avro", "protobuf"])
def test_values_that_are_something_else_are_refused(format: str) -> None:
    source = dv.kafka("x:1", "rows", format, **encoded(format)[1])
    with pytest.raises(dv.DataError, match=f"values of topic 'rows' cannot be read as {format}: "):
        columns_of(source, [b"\xff\xff\xff{", b"\x0f"], SCHEMA)


def test_headers_of_a_registry_are_checked() -> None:
    source = dv.kafka("x:1", "rows", framed=True)
    with pytest.raises(dv.DataError, match="do not begin with a schema registry's header"):
        columns_of(source, [b"{}"], SCHEMA)
    with pytest.raises(dv.DataError, match=r"have several schemas \(1, 2\)"):
        columns_of(source, [struct.pack(">bI", 0, number) + b"{}" for number in (1, 2)], SCHEMA)
    other = dv.kafka("x:1", "rows", "protobuf", framed=True, value_schema=b"", message="m")
    with pytest.raises(dv.DataError, match="not the first message of their schema"):
        columns_of(other, [struct.pack(">bI", 0, 1) + b"\x02\x02"], SCHEMA)


def test_messages_without_a_value_are_left_out(broker: Any) -> None:
    send(broker, "tombs", [b"1", None, b"2"])
    source = dv.kafka(servers(broker), "tombs")
    feed = KafkaFeed(source)
    assert read(source, feed, feed.initial(), feed.latest(feed.initial())) == [b"1", b"2"]
    assert Messages(0, 5, 9).bytes == 4 * Messages(0, 5, 6).bytes


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: dv.kafka("", "t"), "servers must be a text, got ''"),
        (lambda: dv.kafka("x:1", "t", "xml"), "format='xml': it is one of 'json'"),
        (lambda: dv.kafka("x:1", "t", begin="now"), "begin='now': it is one of 'earliest'"),
        (lambda: dv.kafka("x:1", "t", max_rows=0), "max_rows must be a whole number"),
        (lambda: dv.kafka("x:1", "t", maxrows=5), "there is no option 'maxrows'; there are: max_rows"),
        (lambda: dv.kafka("x:1", "t", value_schema="{}"), "JSON values need no value_schema"),
        (lambda: dv.kafka("x:1", "t", "avro"), "for Avro, value_schema must be the schema"),
        (lambda: dv.kafka("x:1", "t", "protobuf"), "for Protobuf, value_schema must be a file descriptor set"),
        (lambda: dv.kafka("x:1", "t", settings={"a": 1}), "settings must map names to texts"),
        (lambda: dv.kafka("x:1", "t", framed=1), "framed must be True or False"),
        (
            lambda: dv.stream("A", dv.kafka("x:1", "t"), time="ts"),
            "reads a topic, which does not tell its columns",
        ),
    ],
)
def test_mistakes_are_found_at_once(build: Any, message: str) -> None:
    with pytest.raises(dv.StreamError, match=message):
        build()


def test_a_topic_has_no_end() -> None:
    a, b = (dv.stream(name, dv.kafka("x:1", name), time="ts", window="1 s", schema=SCHEMA) for name in "AB")
    with pytest.raises(dv.DataError, match="stream 'A' reads a topic, which has no end"):
        dv.join(a, b, on="A.k = B.k").collect()


def test_json_that_is_written_is_read_again() -> None:
    naive = TABLE.set_column(0, "ts", TABLE["ts"].cast(pa.timestamp("ms")))
    for table in (TABLE, naive):
        values = list(json_values(table))
        assert columns_of(dv.kafka("x:1", "t"), values, table.schema).equals(table)
