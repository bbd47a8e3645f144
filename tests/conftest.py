"""Fixtures for all tests: one Spark session, started when the first test asks for it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """The one session of a test run: two local cores, two shuffle partitions, quiet."""
    from dovetail.runtime.spark.session import spark_session

    session = spark_session(cores=2, name="dovetail tests")
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses the session is marked ``spark``, so that ``-m 'not spark'`` leaves Java alone."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
