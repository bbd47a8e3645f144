"""Whether two joins gave the same rows in whatever order: how many, and a sum over a hash of each.

    hash = 7, then for each column c:  hash = (hash * hash + (c % P) * 40503 + 1) % P        P = 2^31 - 1
    and once more for c = 0, lest the last column enter the sum as it is and its values could trade rows unnoticed

Every step stays below 2^63 and takes whole numbers that are not negative, so NumPy and Spark agree to the last digit.
Times count in microseconds; a NULL, as in an outer join, counts as a number of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PRIME = 2**31 - 1
FACTOR, START, NULL = 40503, 7, 123_456_789


@dataclass(frozen=True)
class Sum:
    """Rows seen and the sum of their hashes."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(self.rows + other.rows, self.total + other.total)


def sum_of(table: pa.Table | pa.RecordBatch, columns: Sequence[str]) -> Sum:
    """The sum over some columns of a table.

    >>> one, other = pa.table({"a": [1, 2], "b": [3, 4]}), pa.table({"a": [2, 1], "b": [4, 3]})
    >>> sum_of(one, ["a", "b"]) == sum_of(other, ["a", "b"]), sum_of(one, ["a", "b"]) == sum_of(one, ["b", "a"])
    (True, False)
    """
    hashes = np.full(table.num_rows, START, np.int64)
    for name in columns:
        hashes = (hashes * hashes + _numbers(table.column(name)) % PRIME * FACTOR + 1) % PRIME
    return Sum(table.num_rows, int(((hashes * hashes + 1) % PRIME).sum()))


def sum_of_all(tables: Iterable[pa.Table | pa.RecordBatch], columns: Sequence[str]) -> Sum:
    """The sum over many tables."""
    return sum((sum_of(table, columns) for table in tables), Sum())


def _numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    return pc.fill_null(column, NULL).to_numpy()  # type: ignore[no-any-return]


def spark_hash(columns: Sequence[str], times: Iterable[str]) -> str:
    """The hash of a row as Spark SQL."""
    text = str(START)
    for name in (*columns, "0"):
        number = f"unix_micros({name})" if name in times else name
        # the hash so far is used twice: a lambda gives it a name, where repeating its text would double it each time
        step = f"CAST((h * h + coalesce({number}, {NULL}) % {PRIME} * {FACTOR} + 1) % {PRIME} AS BIGINT)"
        text = f"transform(array(CAST({text} AS BIGINT)), h -> {step})[0]"
    return text
