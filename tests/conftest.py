"""For all tests: one Spark session, started when the first test asks for it, and how many random cases.

``ci``, the default, tries the same cases every time, so that a failure is that of a change;
HYPOTHESIS_PROFILE=thorough tries others, about thirty times as many.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("ci", COMMON, max_examples=30, derandomize=True, database=None)
settings.register_profile("thorough", COMMON, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


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
