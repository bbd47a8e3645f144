"""Combinations of features on Spark, a sample of the table: rows and order are the oracle's."""

from typing import Any

import pytest

from scripts.trial import attempt

SAMPLE: list[dict[str, str]] = [
    {"how": "full", "budget": "memory spill", "order": "hold"},
    {"how": "semi", "windows": "rows per key", "order": "sync"},
    {"runs": "tree", "budget": "memory spill", "order": "hold"},
    {"runs": "tree", "aggregates": "yes"},
    {"runs": "deep tree", "budget": "cpu and memory harvest"},
    {"runs": "shared", "windows": "rows", "order": "adaptive"},
    {"budget": "cpu and memory harvest", "windows": "rows per key", "late": "divert"},
    {"aggregates": "yes", "budget": "memory spill", "algorithm": "sorted"},
]


@pytest.mark.parametrize("cell", SAMPLE, ids=lambda cell: " ".join(cell.values()))
def test_what_goes_together_gives_what_the_oracle_gives(spark: Any, cell: dict[str, str]) -> None:
    assert attempt(cell | {"runtime": "spark"}, seed=3, spark=spark) == "run"


def test_what_does_not_go_together_is_refused(spark: Any) -> None:
    assert attempt({"on_error": "divert", "runtime": "spark"}, spark=spark) == "refused"
