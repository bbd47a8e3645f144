"""One session with the connectors for all tests here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lakes.session import DELTA, ICEBERG, lake_session


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="session")
def lake_spark(warehouse: Path) -> Iterator[Any]:
    made = lake_session(warehouse)
    yield made
    made.stop()


@pytest.fixture
def connector(request: pytest.FixtureRequest) -> str:
    """The format that a test is about, which this version of Spark may not have."""
    there = {"delta": DELTA, "iceberg": ICEBERG, "dovetail": True}
    if not there[request.param]:
        pytest.skip(f"there is no {request.param} connector for this version of Spark")
    return str(request.param)
