"""Combinations of features on Spark, drawn from the table: rows and order are the oracle's, late rows among them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.model.combinations import AXES
from scripts.trial import attempt, drawn

SPARK: dict[str, tuple[str, ...]] = {"runtime": ("spark",)}
# A tick of a real clock may find a stream silent on a slow machine, and the oracle is told no time.
STREAMING = SPARK | {"idle": ("no",)}


def sample(seed: int, runs: tuple[str, ...], fixed: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """A combination of each of these ways to run."""
    random = np.random.default_rng(seed)
    return [drawn(random, fixed | {"runs": (word,)}) for word in runs]


def named(cell: dict[str, str]) -> str:
    return " ".join(f"{axis} {word}" for axis, word in cell.items() if word != AXES[axis][0])


@pytest.mark.parametrize("cell", sample(21, ("alone", "alone", "tree", "deep tree", "shared"), SPARK), ids=named)
def test_what_goes_together_gives_what_the_oracle_gives(spark: Any, cell: dict[str, str]) -> None:
    assert attempt(cell, seed=3, spark=spark) == "run"


@pytest.mark.parametrize("cell", sample(22, ("tree", "shared"), STREAMING), ids=named)
def test_streams_with_late_rows_give_what_the_oracle_gives(spark: Any, tmp_path: Path, cell: dict[str, str]) -> None:
    assert attempt(cell, seed=3, spark=spark, folder=tmp_path) == "run"


@pytest.mark.slow
def test_a_larger_sample(spark: Any, tmp_path: Path) -> None:
    for at, cell in enumerate(sample(23, 10 * ("alone", "tree", "deep tree", "shared"), STREAMING)):
        assert attempt(cell, seed=at, spark=spark, folder=tmp_path / str(at) if at % 3 else None) == "run", cell


def test_what_does_not_go_together_is_refused(spark: Any) -> None:
    assert attempt({"on_error": "divert", "runtime": "spark"}, spark=spark) == "refused"
