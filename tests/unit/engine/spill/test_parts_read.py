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


def reads_of(count: int, names: str = "AB", how: str = "inner") -> int:
    """How many parts a join of so many rows of each stream reads; its results are right."""
    reads: list[int] = []
    read = FileStore.read

    def counted(store: FileStore, number: int) -> pa.RecordBatch:
        reads.append(number)
        return read(store, number)

    streams = [dv.stream(name, time="ts", window="1 hour", schema=SCHEMA) for name in names]
    on = " AND ".join(f"A.k = {name}.k" for name in names[1:])
    budget = dv.budget(memory=dv.tuples(MEMORY), policy="spill")
    tables = {name: rows(seed, count) for seed, name in enumerate(names, 1)}
    found = 0
    with patch.object(FileStore, "read", counted):
        run = dv.join(*streams, on=on, select="A.k", how=how, budget=budget).local()
        for start in range(0, count, STEP):
            found += sum(run.push(name, table.slice(start, STEP)).num_rows for name, table in tables.items())
        found += run.close().num_rows
    first, *others = (np.bincount(table["k"].to_numpy(), minlength=count) for table in tables.values())
    least = 1 if how == "left" else 0
    assert found == int((first * np.prod([np.maximum(each, least) for each in others], axis=0)).sum())
    return len(reads)


def test_a_pass_over_small_flushes_reads_few_parts() -> None:
    """Twenty times the memory in parts of twenty tuples, each read for each of its partners, would be 10,000 reads."""
    assert reads_of(5_000) < 3000


def test_reads_grow_with_the_rows_and_not_with_their_square() -> None:
    """Without splitting partitions that have grown, four times the rows took ten times the reads."""
    assert reads_of(20_000) < 6 * reads_of(5_000)


def test_joins_by_stream_read_as_the_rows_grow_too() -> None:
    """Rows that leave look for partners in every part that may have their keys, and in no other."""
    assert reads_of(12_000, "ABC", "left") < 6 * reads_of(3_000, "ABC", "left")
