"""Queries and random rows that the Spark tests share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us", tz="UTC"),
        "k": pa.int64(),
        "g": pa.string(),
        "x": pa.float64(),
        "n": pa.int64(),
        "row": pa.int64(),
    }
)
SECOND = 1_000_000

CONDITIONS = {
    "one key": ("AB", "A.k = B.k"),
    "two keys": ("AB", "A.k = B.k AND A.g = B.g"),
    "text key and filter": ("AB", "A.g = B.g AND A.x > 0 AND B.n < 40"),
    "common key of three": ("ABC", "A.k = B.k AND B.k = C.k"),
    "chain of keys": ("ABC", "A.k = B.k AND B.g = C.g"),
    "band of floats": ("AB", "ABS(A.x - B.x) <= 0.25"),
    "band of integers": ("AB", "A.n - B.n BETWEEN -1 AND 2"),
    "chain of bands": ("ABC", "ABS(A.n - B.n) <= 1 AND ABS(B.n - C.n) <= 1"),
    "key and band": ("ABC", "A.k = B.k AND ABS(B.x - C.x) <= 0.1"),
    "NULL equal to NULL": ("AB", "A.k IS NOT DISTINCT FROM B.k AND A.g <=> B.g"),
    "one of two keys": ("AB", "A.g = B.g AND A.n < B.n OR A.k = B.k"),
    "comparison": ("AB", "A.n < B.n - 45"),
    "any expression": ("AB", "(A.n + B.n) % 11 = 0"),
    "four streams": ("ABCD", "A.k = B.k AND B.g = C.g AND C.n = D.n"),
}


def build(
    on: str,
    data: dict[str, Any],
    window: Any = "4 seconds",
    delay: str = "3 seconds",
    asof: Any = None,
    **options: Any,
) -> dv.Query:
    """A query over streams of ``SCHEMA`` that selects the row numbers of its members; with ``asof`` an as-of join."""
    windows = window if isinstance(window, dict) else dict.fromkeys(data, None if asof else window)
    schemas = {name: SCHEMA if isinstance(frame, dv.Files | dv.Kafka) else None for name, frame in data.items()}
    best = asof or {}
    streams = [
        dv.stream(name, frame, time="ts", window=windows[name], delay=delay, schema=schemas[name], asof=best.get(name))
        for name, frame in data.items()
    ]
    seen = shown(list(data), options.get("how", "inner"))
    select = ", ".join(f"{name}.row AS {name.lower()}" for name in seen)
    return dv.join(*streams, on=on, select=select, **options)


def shown(names: list[str], how: Any) -> list[str]:
    words = how if isinstance(how, dict) else dict.fromkeys(names[1:], how)
    return [name for name in names if words.get(name) not in ("semi", "anti")]


def bare(on: str, names: str, **options: Any) -> dv.Query:
    """The same without data."""
    return build(on, {name: SCHEMA.empty_table() for name in names}, **options)


def random_rows(seed: int, count: int, start: float = 0, seconds: float = 3, first_row: int = 0) -> pa.Table:
    """Rows out of order by at most ``seconds``, with NULL keys and NaN among them."""
    random = np.random.default_rng(seed)
    nulls = random.random(count) < 0.05
    columns: Sequence[pa.Array] = [
        pa.array(((start + random.random(count) * seconds) * SECOND).astype(np.int64)).cast(SCHEMA.field("ts").type),
        pa.array(random.integers(0, 6, count), mask=nulls),
        pa.array(np.array(["é", "b b", "", "d"])[random.integers(0, 4, count)], mask=random.random(count) < 0.05),
        pa.array(np.where(random.random(count) < 0.05, np.nan, random.normal(0, 1, count)), from_pandas=False),
        pa.array(random.integers(0, 50, count)),
        pa.array(np.arange(first_row, first_row + count)),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)
