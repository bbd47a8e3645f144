"""How often parts are read when much more is on disk than fits into memory."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.engine.policies.spill.files import FileStore

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
MEMORY, STEP = 500, 50


def rows(seed: int, count: int) -> pa.Table:
    keys = np.random.default_rng(seed).integers(0, count, count)
    return pa.table({"ts": np.arange(count), "k": keys}).cast(SCHEMA)


def reads_of(count: int) -> int:
    """How many parts a join of so many rows of each stream reads; its results are right."""
    reads: list[int] = []
    read = FileStore.read

    def counted(store: FileStore, number: int) -> pa.RecordBatch:
        reads.append(number)
        return read(store, number)

    streams = [dv.stream(name, time="ts", window="1 hour", schema=SCHEMA) for name in "AB"]
    budget = dv.budget(memory=dv.tuples(MEMORY), policy="spill")
    left, right = rows(1, count), rows(2, count)
    found = 0
    with patch.object(FileStore, "read", counted):
        run = dv.join(*streams, on="A.k = B.k", select="A.k", budget=budget).local()
        for start in range(0, count, STEP):
            found += run.push("A", left.slice(start, STEP)).num_rows + run.push("B", right.slice(start, STEP)).num_rows
        found += run.close().num_rows
    counts = [np.bincount(table["k"].to_numpy(), minlength=count) for table in (left, right)]
    assert found == int((counts[0] * counts[1]).sum())
    return len(reads)


def test_a_pass_over_small_flushes_reads_few_parts() -> None:
    """Twenty times the memory in parts of twenty tuples, each read for each of its partners, would be 10,000 reads."""
    assert reads_of(5_000) < 3000


def test_reads_grow_with_the_rows_and_not_with_their_square() -> None:
    """Without splitting partitions that have grown, four times the rows took ten times the reads."""
    assert reads_of(20_000) < 6 * reads_of(5_000)
