"""Rows into a topic as JSON, in a transaction that also notes how far one has come."""

from collections.abc import Iterable, Iterator
from time import monotonic, sleep
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.errors import PlanError
from dovetail.model.kafka import Kafka

_PATIENCE_S, _LOOK_S = 60.0, 0.2  # while a group's coordinator moves, which it does in a new broker
_ISO = "%Y-%m-%dT%H:%M:%S"


class Producing:
    """A producer under a name, of which there is one at a time."""

    def __init__(self, sink: Kafka, name: str) -> None:
        try:
            import confluent_kafka
        except ImportError as error:
            raise PlanError("topics are written with confluent-kafka; pip install 'dovetail[kafka]'") from error
        self.failures, errors = confluent_kafka.KafkaException, confluent_kafka.KafkaError
        self._moving = (errors.NOT_COORDINATOR, errors.COORDINATOR_NOT_AVAILABLE, errors.COORDINATOR_LOAD_IN_PROGRESS)
        common = {"bootstrap.servers": sink.servers, **dict(sink.settings)}
        self._topic, self._partition = sink.topic, confluent_kafka.TopicPartition
        self._group: Any = confluent_kafka.Consumer({**common, "group.id": name, "enable.auto.commit": "false"})
        self._producer: Any = confluent_kafka.Producer({**common, "transactional.id": name, "linger.ms": "20"})
        self._producer.init_transactions(_PATIENCE_S)  # what was begun under this name and not ended is undone

    def done(self) -> int:
        """The number that was noted last; 0 if none was."""
        began = monotonic()
        while True:
            try:
                (found,) = self._group.committed([self._partition(self._topic, 0)], _PATIENCE_S)
                return max(0, int(found.offset))
            except self.failures as error:
                if error.args[0].code() not in self._moving or monotonic() - began > _PATIENCE_S:
                    raise
                sleep(_LOOK_S)

    def send(self, tables: Iterable[pa.Table], number: int) -> None:
        """All rows and the number, or neither."""
        self._producer.begin_transaction()
        try:
            for table in tables:
                for value in json_values(table):
                    self._produce(value)
            note = [self._partition(self._topic, 0, number)]
            self._producer.send_offsets_to_transaction(note, self._group.consumer_group_metadata(), _PATIENCE_S)
            self._producer.commit_transaction(_PATIENCE_S)
        except BaseException:
            self._producer.abort_transaction(_PATIENCE_S)
            raise
        finally:
            self._group.close()

    def _produce(self, value: bytes) -> None:
        while True:
            try:
                self._producer.produce(self._topic, value)
                return
            except BufferError:  # the client holds as much as it may
                self._producer.poll(0.1)


def json_values(table: pa.Table) -> Iterator[bytes]:
    """Each row as a JSON object; times as ISO 8601, with a Z where they are instants."""
    try:
        import polars
    except ImportError as error:
        raise PlanError("JSON is written with polars; pip install 'dovetail[kafka]'") from error
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            times = table.column(at).cast(pa.timestamp(field.type.unit, field.type.tz and "UTC"))
            text = pc.strftime(times, _ISO + ("Z" if field.type.tz else ""))
            table = table.set_column(at, field.name, text)
    frame: Any = polars.from_arrow(table)
    yield from frame.write_ndjson().encode().splitlines()
