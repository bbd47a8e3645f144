"""One list of checks that every way to store a window passes: hash, scan and sorted give the same rows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.buffer.hashed import HashIndex
from dovetail.engine.buffer.ranked import SortedIndex
from dovetail.engine.operator.engine import Engine

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64(), "s": pa.string()})
STORES = pytest.mark.parametrize("algorithm", ["hash", "scan", "sorted"])
ON = "A.k = B.k AND ABS(A.x - B.x) <= 1"


def table(count: int, seed: int, start: int = 0, disorder: int = 0, keys: int = 5) -> pa.Table:
    random = np.random.default_rng(seed)
    times = start + np.arange(count) - random.integers(0, disorder + 1, count)
    columns = [times, random.integers(0, keys, count), random.integers(0, 4, count) / 2, random.integers(0, 9, count)]
    arrays = [pa.array(values).cast(field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, SCHEMA)


def engine(algorithm: str, window: int = 100, delay: int = 0, on: str = ON) -> Engine:
    streams = [
        dv.stream(name, time="ts", window=f"{window} us", delay=f"{delay} us", schema=SCHEMA) for name in ("A", "B")
    ]
    return Engine(dv.join(*streams, on=on, select="A.ts AS a, B.ts AS b, A.s AS s", algorithm=algorithm).plan)


def rows(batches: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())


def nested_loops(left: pa.Table, right: pa.Table, window: int) -> list[tuple[Any, ...]]:
    columns = [[table[name].to_numpy(zero_copy_only=False) for table in (left, right)] for name in ("k", "x")]
    times = [table["ts"].cast(pa.int64()).to_numpy() for table in (left, right)]
    (ka, kb), (xa, xb) = columns
    near = np.abs(times[0][:, None] - times[1][None, :]) <= window
    fits = near & (ka[:, None] == kb[None, :]) & (np.abs(xa[:, None] - xb[None, :]) <= 1)
    a, b = np.nonzero(fits)
    lefts, rights = left["ts"].to_pylist(), right["ts"].to_pylist()
    texts = left["s"].to_pylist()
    return sorted((max(lefts[i], rights[j]), lefts[i], rights[j], texts[i]) for i, j in zip(a, b, strict=True))


@STORES
@pytest.mark.parametrize("disorder", [0, 30])
@pytest.mark.parametrize("piece", [1, 37, 1000])
def test_pairs_are_those_of_nested_loops(algorithm: str, disorder: int, piece: int) -> None:
    left, right = table(250, 1, disorder=disorder), table(250, 2, disorder=disorder)
    running, found = engine(algorithm, delay=disorder), []
    for start in range(0, 250, piece):
        for name, whole in (("A", left), ("B", right)):
            found += rows(running.push({name: whole.slice(start, piece)}))
    assert sorted(found) == nested_loops(left, right, 100)


@STORES
def test_an_empty_window_finds_nothing(algorithm: str) -> None:
    running = engine(algorithm)
    assert rows(running.push({"A": table(0, 1)})) == []
    assert rows(running.push({"B": table(5, 1)})) == []


@STORES
def test_what_has_expired_is_forgotten(algorithm: str) -> None:
    running = engine(algorithm)
    for step in range(40):
        for name in "AB":
            list(running.push({name: table(500, step, start=500 * step)}))
    streams = running.metrics()["streams"]
    assert max(stream["stored"] for stream in streams.values()) <= 101 + 500
    assert max(stream["bytes"] for stream in streams.values()) < 1_000_000


@STORES
def test_what_has_expired_is_forgotten_in_spite_of_disorder(algorithm: str) -> None:
    running = engine(algorithm, delay=200)
    for step in range(40):
        for name in "AB":
            list(running.push({name: table(500, step, start=500 * step, disorder=200)}))
    streams = running.metrics()["streams"]
    assert {stream["late"] for stream in streams.values()} == {0}
    assert max(stream["stored"] for stream in streams.values()) <= 101 + 200 + 200 + 500


@STORES
def test_memory_follows_after_a_burst(algorithm: str) -> None:
    running = engine(algorithm, on="A.k = B.k AND A.x = B.x AND A.s = B.s")
    list(running.push({"A": table(600_000, 1, start=0, keys=10**9)}))
    burst = running.metrics()["streams"]["A"]["bytes"]
    for step in range(3):
        for name in "BA":
            list(running.push({name: table(10, step, start=10**7 + 10 * step)}))
    assert running.metrics()["streams"]["A"]["bytes"] < burst / 20


def test_a_hash_index_grows_and_shrinks_with_its_window() -> None:
    index, codes = HashIndex(), np.arange(100_000, dtype=np.int64)
    assert len(index.heads) == 1024
    index.move(0, 0, 100_000)
    index.resize(codes[:0], 0, 0, 0)
    index.insert(codes, 0, 0, 100_000)
    assert len(index.heads) == 1 << 17
    index.move(99_000, 100_000, 3_000)
    index.resize(codes[99_000:], 99_000, 99_000, 100_000)
    assert len(index.heads) == 1 << 11
    chained = sum(1 for head in index.heads if head >= 99_000)
    assert 500 < chained <= 1000


def test_sorted_runs_merge_so_that_there_are_few() -> None:
    index, values = SortedIndex(), np.random.default_rng(1).integers(0, 100, 4096)
    for first in range(0, 4096, 8):
        index.insert(values, 0, first, first + 8)
    assert len(index.runs) - 1 <= 10
    for start, stop in zip(index.runs[:-1], index.runs[1:], strict=True):
        assert (np.diff(index.ranked[start:stop]) >= 0).all()
    assert sorted(index.ids[:4096].tolist()) == list(range(4096))
    assert (values[index.ids[:4096]] == index.ranked[:4096]).all()


def test_sorted_runs_forget_what_has_expired() -> None:
    index, values = SortedIndex(), np.random.default_rng(1).integers(0, 100, 5000)
    for first in range(0, 5000, 500):
        index.insert(values, 0, first, first + 500)
    index.expire(4900, 100)
    kept = int(index.runs[-1])
    assert sorted(index.ids[:kept].tolist()) == list(range(4900, 5000))
    assert all((np.diff(index.ranked[a:b]) >= 0).all() for a, b in zip(index.runs[:-1], index.runs[1:], strict=True))
