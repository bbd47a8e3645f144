"""How a query of a pipeline file is started: its sink, its checkpoint, its trigger."""

from types import SimpleNamespace
from typing import Any

import pytest

from dovetail.cli.pipeline_file import Routed
from dovetail.cli.pipeline_starts import start_alone
from dovetail.sql.declarations import SinkDeclaration


class Writer:
    """Notes what Spark's writer is told."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        def tell(*words: Any, **options: Any) -> "Writer":
            self.told[name] = options or words
            return self

        return tell


def told(once: bool, **options: Any) -> dict[str, Any]:
    writer = Writer()
    query: Any = SimpleNamespace(spark=lambda session: SimpleNamespace(writeStream=writer))
    start_alone(Routed(query, SinkDeclaration("s", "noop", None, {}, **options)), once)
    return writer.told


@pytest.mark.parametrize(
    ("once", "every_us", "trigger"),
    [
        (False, None, None),
        (False, 10_000_000_000, {"processingTime": "10000000 milliseconds"}),
        (True, 10_000_000, {"availableNow": True}),
        (True, None, {"availableNow": True}),
    ],
)
def test_triggers(once: bool, every_us: int | None, trigger: dict[str, Any] | None) -> None:
    assert told(once, trigger_us=every_us).get("trigger") == trigger
