import doctest

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import alone, checksum, report, settings
from benchmarks.checksum import PRIME, Sum, sum_of, sum_of_all


@pytest.mark.parametrize("module", [alone, checksum, report, settings])
def test_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # modules, by the list above


def by_hand(*values: int) -> int:
    hashed = 7
    for value in (*values, 0):
        hashed = (hashed * hashed + value % PRIME * 40503 + 1) % PRIME
    return hashed


def test_it_is_what_it_says() -> None:
    big = 1_700_000_000_000_000
    table = pa.table({"a": [1, big], "b": [2, None]})
    assert sum_of(table, ["a", "b"]) == Sum(2, by_hand(1, 2) + by_hand(big, 123_456_789))


def test_the_cut_into_batches_does_not_matter() -> None:
    table = pa.table({"a": np.arange(100), "b": np.arange(100) % 7})
    assert sum_of_all(table.to_batches(max_chunksize=9), ["a", "b"]) == sum_of(table, ["a", "b"])


def test_a_pair_swapped_between_rows_is_noticed() -> None:
    right, wrong = pa.table({"a": [1, 2], "b": [10, 20]}), pa.table({"a": [1, 2], "b": [20, 10]})
    assert sum_of(right, ["a", "b"]) != sum_of(wrong, ["a", "b"])


def test_times_count_in_microseconds() -> None:
    coarse = pa.table({"t": pa.array([3], pa.timestamp("s"))})
    assert sum_of(coarse, ["t"]) == sum_of(pa.table({"t": [3_000_000]}), ["t"])
