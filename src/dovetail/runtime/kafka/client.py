"""A Kafka client for one topic: which partitions it has, from where to where they reach, and their messages."""

from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

from dovetail.errors import DataError, PlanError
from dovetail.model.kafka import Kafka

_AT_ONCE = 10_000  # messages that the client hands over in one call
_LOOK_S = 0.1  # the client waits so long for as many messages as it was asked for
_PATIENCE_S = 60.0  # without a message, although there must be more


class Topic:
    """A topic and a connection to it, which ends with ``close``."""

    def __init__(self, source: Kafka) -> None:
        try:
            import confluent_kafka
        except ImportError as error:
            raise PlanError("topics are read with confluent-kafka; pip install 'dovetail[kafka]'") from error
        self._source, self._library = source, confluent_kafka
        errors = confluent_kafka.KafkaError
        self._moving = (errors.NOT_LEADER_FOR_PARTITION, errors.LEADER_NOT_AVAILABLE, errors.UNKNOWN_TOPIC_OR_PART)
        own = {
            "bootstrap.servers": source.servers,
            "group.id": "dovetail",  # the client wants one; nothing is ever committed under it
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
        }
        self._client: Any = confluent_kafka.Consumer(own | dict(source.settings))

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def reach(self) -> dict[int, tuple[int, int]]:
        """Of every partition the first offset that is still there, and the one after the last.

        A partition that was just added, or changes its broker, has no leader for a moment.
        """
        began = monotonic()
        while True:
            try:
                return self._reach()
            except self._library.KafkaException as error:
                if error.args[0].code() not in self._moving or monotonic() - began > _PATIENCE_S:
                    raise DataError(f"topic {self._source.topic!r} at {self._source.servers}: {error}") from error
                sleep(_LOOK_S)

    def _reach(self) -> dict[int, tuple[int, int]]:
        found = self._client.list_topics(self._source.topic, _PATIENCE_S).topics[self._source.topic]
        if found.error is not None:
            raise DataError(f"topic {self._source.topic!r} at {self._source.servers}: {found.error}")
        pieces = [self._library.TopicPartition(self._source.topic, number) for number in sorted(found.partitions)]
        return {piece.partition: self._client.get_watermark_offsets(piece, _PATIENCE_S) for piece in pieces}

    def values(self, partition: int, first: int, last: int) -> Iterator[list[bytes]]:
        """The values of the messages between two offsets, some at a time; messages without a value are left out."""
        self._client.assign([self._library.TopicPartition(self._source.topic, partition, first)])
        at, heard = first, monotonic()
        while at < last:
            messages = self._client.consume(min(_AT_ONCE, last - at), _LOOK_S)
            if not messages and monotonic() - heard > _PATIENCE_S:
                raise DataError(f"{self._named(partition, at, last)} did not come within {_PATIENCE_S:.0f} seconds")
            if not messages:
                continue
            failed = next((each.error() for each in messages if self._fails(each)), None)
            if failed is not None:
                raise DataError(f"{self._named(partition, at, last)}: {failed}")
            good = [each for each in messages if each.error() is None and each.offset() < last]
            yield [value for each in good if (value := each.value()) is not None]
            # a message from behind, or the end of the partition there, tells that what is left marks transactions
            ended = any(each.offset() >= last for each in messages)
            at, heard = last if ended else max([at, *(each.offset() + 1 for each in good[-1:])]), monotonic()

    def _fails(self, message: Any) -> bool:
        error = message.error()
        return error is not None and error.code() != self._library.KafkaError._PARTITION_EOF  # noqa: SLF001 its name

    def _named(self, partition: int, first: int, last: int) -> str:
        return f"messages {first:,} to {last - 1:,} of partition {partition} of topic {self._source.topic!r}"
