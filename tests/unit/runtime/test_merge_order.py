"""Batches in order, merged."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.runtime.merge_order import merged

SCHEMA = pa.schema({"result_time": pa.timestamp("us", "UTC"), "row": pa.int64()})


def batch(times: np.ndarray, first: int) -> pa.RecordBatch:
    """In order, unless its first number is odd."""
    column = pa.array(times if first % 2 else np.sort(times)).cast(SCHEMA.field(0).type)
    return pa.RecordBatch.from_arrays([column, pa.array(range(first, first + len(times)))], schema=SCHEMA)


@given(st.lists(st.sampled_from([0, 1, 7, 5_000, 90_000]), max_size=6), st.sampled_from([3, 10**6]), st.integers(0, 99))
def test_every_row_once_and_in_order(sizes: list[int], latest: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    batches = [batch(random.integers(-latest, latest, size), at * 10**6 + at) for at, size in enumerate(sizes)]
    pieces = list(merged(batches))
    found = pa.Table.from_batches(pieces, SCHEMA)
    given_rows = pa.Table.from_batches(batches, SCHEMA)
    assert found["result_time"].to_numpy().tolist() == np.sort(given_rows["result_time"].to_numpy()).tolist()
    assert found.sort_by("row") == given_rows.sort_by("row").combine_chunks()
    assert all(piece.num_rows for piece in pieces)
