"""Similarities beside NumPy: random vectors of every length, both measures, thresholds of all signs."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv

# Sums of a few products differ by less than this, in whatever order they are made.
_ROUNDING = 1e-9


def vectors(random: np.random.Generator, rows: int, width: int) -> Any:
    return random.normal(0, 1, (rows, width)) * random.choice([0.01, 1.0, 100.0], (rows, 1))


def table(matrix: Any) -> pa.Table:
    rows, width = matrix.shape
    schema = pa.schema({"ts": pa.timestamp("us"), "n": pa.int64(), "v": pa.list_(pa.float64(), width)})
    flat = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), width)
    return pa.table([pa.array(np.arange(rows)).cast(pa.timestamp("us")), pa.array(np.arange(rows)), flat], schema)


def pairs(left: Any, right: Any, on: str) -> set[tuple[int, int]]:
    streams = [dv.stream(name, table(rows), time="ts", window="1 second") for name, rows in (("A", left), ("B", right))]
    found = dv.join(*streams, on=on, select="A.n AS a, B.n AS b").collect()
    assert found.num_rows == len(set(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True)))
    return set(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True))


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.sampled_from([-0.9, -0.3, 0.0, 0.2, 0.7, 0.95]), st.booleans())
@pytest.mark.parametrize("measure", ["INNER_PRODUCT", "COSINE_SIMILARITY"])
@pytest.mark.parametrize("checked", [False, True], ids=["found by it", "checked only"])
def test_similarities_are_numpys(measure: str, checked: bool, seed: int, width: int, bar: float, strict: bool) -> None:
    random = np.random.default_rng(seed)
    left, right = (vectors(random, int(random.integers(1, 40)), width) for _ in range(2))
    scores = left @ right.T
    lengths = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None, :]
    if measure == "COSINE_SIMILARITY":
        scores, lengths = scores / lengths, np.ones_like(scores)
    near = np.abs(scores - bar) <= _ROUNDING * np.maximum(lengths, 1)
    also = " AND A.n % 2 = B.n % 2" if checked else ""
    found = pairs(left, right, f"{measure}(A.v, B.v) {'>' if strict else '>='} {bar}{also}")
    places = np.arange(len(left))[:, None] % 2 == np.arange(len(right))[None, :] % 2
    expected = (scores >= bar) & (places if checked else True)
    assert {(a, b) for a, b in found if not near[a, b]} == set(zip(*np.nonzero(expected & ~near), strict=True))


@pytest.mark.parametrize(("sign", "rows"), [(">=", 4), (">", 0)])
def test_a_score_on_the_threshold(sign: str, rows: int) -> None:
    halves = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert len(pairs(halves, halves, f"INNER_PRODUCT(A.v, B.v) {sign} 0.5")) == rows
