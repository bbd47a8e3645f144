"""Rows as blobs and back: the same rows in the same order, in values of bounded size."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.runtime.spark.blob import SLICE_BYTES, BlobColumn, from_blob


def column(*batches: pa.RecordBatch) -> pa.Array:
    blobs = BlobColumn(batches[0].schema)
    blobs.write(batches)
    return blobs.array()


def rows_of(blobs: pa.Array, names: list[str]) -> pa.Table:
    return pa.Table.from_batches([batch for blob in blobs for batch in from_blob(blob.as_buffer(), names)])


def numbers(rows: int, start: int = 0) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"a b": np.arange(start, start + rows), "text": [f"row {n}" for n in range(rows)]}
    )


@given(st.lists(st.sampled_from([1, 17, 5_000, 40_000]), min_size=1, max_size=6))
def test_rows_come_back_in_order(sizes: list[int]) -> None:
    batches = [numbers(size, at * 100_000) for at, size in enumerate(sizes)]
    assert rows_of(column(*batches), ["a b", "text"]).equals(pa.Table.from_batches(batches))


@given(st.lists(st.sampled_from([1, 17, 5_000, 40_000]), min_size=1, max_size=6))
def test_blobs_are_neither_large_nor_many(sizes: list[int]) -> None:
    batches = [numbers(size) for size in sizes]
    blobs = column(*batches)
    overhead = 4_096 * max(1, sum(size <= 17 for size in sizes))  # of the format, per batch
    assert max(len(blob.as_py()) for blob in blobs) < 2 * SLICE_BYTES + overhead
    assert len(blobs) <= 1 + sum(batch.nbytes for batch in batches) // SLICE_BYTES * 1.1


def test_a_row_larger_than_that_is_one_blob() -> None:
    large = pa.RecordBatch.from_pydict({"doc": ["x" * (3 * SLICE_BYTES), "y" * (3 * SLICE_BYTES)]})
    assert [batch.num_rows for blob in column(large) for batch in from_blob(blob.as_buffer(), ["doc"])] == [1, 1]


def test_no_rows_are_a_null() -> None:
    blobs = BlobColumn(numbers(1).schema)
    assert blobs.write([numbers(0)]) == 0
    blobs.write_null()
    assert blobs.write([numbers(2)]) == 1
    assert [blob.is_valid for blob in blobs.array()] == [False, True]
    assert rows_of(blobs.array().drop_null(), ["a b", "text"]).num_rows == 2
