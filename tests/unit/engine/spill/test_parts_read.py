"""How often parts are read when much more is on disk than fits into memory."""

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.policies.spill.files import FileStore

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
MEMORY, ROWS, STEP = 1000, 10_000, 100


def rows(seed: int) -> pa.Table:
    keys = np.random.default_rng(seed).integers(0, ROWS, ROWS)
    return pa.table({"ts": np.arange(ROWS), "k": keys}).cast(SCHEMA)


def test_a_pass_over_small_flushes_reads_few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty times the memory in parts of twenty tuples, each read for each of its partners, would be 10,000 reads."""
    reads: list[int] = []
    read = FileStore.read

    def counted(store: FileStore, number: int) -> pa.RecordBatch:
        reads.append(number)
        return read(store, number)

    monkeypatch.setattr(FileStore, "read", counted)
    streams = [dv.stream(name, time="ts", window="1 hour", schema=SCHEMA) for name in "AB"]
    budget = dv.budget(memory=dv.tuples(MEMORY), policy="spill")
    run = dv.join(*streams, on="A.k = B.k", select="A.k", budget=budget).local()
    left, right = rows(1), rows(2)
    found = 0
    for start in range(0, ROWS, STEP):
        found += run.push("A", left.slice(start, STEP)).num_rows + run.push("B", right.slice(start, STEP)).num_rows
    found += run.close().num_rows
    counts = [np.bincount(table["k"].to_numpy(), minlength=ROWS) for table in (left, right)]
    assert found == int((counts[0] * counts[1]).sum())
    assert len(reads) < 3000
