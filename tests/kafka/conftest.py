"""One broker and one session with the Kafka connector for all tests here."""

from collections.abc import Iterator
from typing import Any

import pytest

from examples.kafka.broker import broker
from examples.kafka.join_topics import session


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with broker() as found:
        yield found


@pytest.fixture(scope="session")
def kafka_spark() -> Iterator[Any]:
    made = session()
    yield made
    made.stop()
