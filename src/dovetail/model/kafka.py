"""A Kafka topic as the data of a stream: read and decoded by Dovetail itself, on Spark."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.errors import StreamError
from dovetail.model.choice import not_one_of
from dovetail.model.number import as_count

FORMATS = ("json", "avro", "protobuf")
BEGINNINGS = ("earliest", "latest")


@dataclass(frozen=True)
class Kafka:
    """A topic; ``dovetail.kafka`` makes one and says what the options mean. ``settings`` are the client's, as pairs."""

    servers: str
    topic: str
    format: str = "json"
    max_rows: int | None = None
    begin: str = "earliest"
    value_schema: str | bytes | None = None
    message: str | None = None
    framed: bool = False
    settings: tuple[tuple[str, str], ...] = ()

    static = False  # a topic has no end

    def __post_init__(self) -> None:
        for name in ("servers", "topic"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise StreamError(f"kafka: {name} must be a text, got {getattr(self, name)!r}")
        for name, choices in (("format", FORMATS), ("begin", BEGINNINGS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise StreamError(f"kafka: {not_one_of(name, value, choices)}")
        if self.max_rows is not None and as_count(self.max_rows) is None:
            raise StreamError(f"kafka: max_rows must be a whole number, 1 or more, got {self.max_rows!r}")
        if not isinstance(self.framed, bool):
            raise StreamError(f"kafka: framed must be True or False, got {self.framed!r}")
        _check_value_schema(self)
        pairs = self.settings if isinstance(self.settings, tuple) else ()
        if pairs != self.settings or not all(isinstance(part, str) for pair in pairs for part in pair):
            raise StreamError(f"kafka: settings must map names to texts, got {self.settings!r}")


def _check_value_schema(topic: Kafka) -> None:
    if topic.format == "json" and (topic.value_schema is not None or topic.message is not None):
        raise StreamError("kafka: JSON values need no value_schema; the schema= of the stream says what they hold")
    if topic.format == "avro":
        try:
            named = isinstance(json.loads(topic.value_schema or ""), dict)
        except (ValueError, TypeError):
            named = False
        if not named:
            raise StreamError("kafka: for Avro, value_schema must be the schema of the values, a record, as JSON")
    if topic.format == "protobuf" and not (isinstance(topic.value_schema, bytes) and isinstance(topic.message, str)):
        raise StreamError(
            "kafka: for Protobuf, value_schema must be a file descriptor set (protoc --descriptor_set_out, as bytes) "
            "and message the full name of the values' message"
        )


def kafka(servers: str, topic: str, format: str = "json", **options: Any) -> Kafka:
    """A Kafka topic as ``data=`` of a stream on Spark: JSON, Avro or Protobuf values; rows never become Java's.

    Options: ``max_rows`` of a batch; ``begin``, "earliest" or "latest", where a new checkpoint starts; ``settings`` of
    the client (librdkafka), by name; for Avro and Protobuf the ``value_schema``, for Protobuf the ``message``, and
    ``framed=True`` if values begin with a schema registry's header. The ``schema=`` of the stream names the columns.

    >>> import dovetail as dv
    >>> dv.kafka("localhost:9092", "orders", max_rows=100_000).begin
    'earliest'
    """
    unknown = next((name for name in options if name not in Kafka.__dataclass_fields__), None)
    if unknown is not None:
        known = [name for name in Kafka.__dataclass_fields__ if name not in ("servers", "topic", "format")]
        raise StreamError(f"kafka: there is no option {unknown!r}; there are: {', '.join(known)}")
    settings = options.pop("settings", ())
    if isinstance(settings, Mapping):
        settings = tuple(sorted(settings.items(), key=str))
    return Kafka(servers, topic, format, settings=settings, **options)
