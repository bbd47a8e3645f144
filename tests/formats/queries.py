"""The queries whose states are kept as files, and the rows that were pushed before and after each was written.

Whoever changes a format adds files for the new number, written with ``python -m tests.formats.write``, and leaves those
of older numbers as they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.runtime.threads import pays

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string()})
SECOND = 1_000_000


def _streams(names: str, window: Any, **options: Any) -> list[Any]:
    return [dv.stream(name, time="ts", window=window, delay="2 seconds", schema=SCHEMA, **options) for name in names]


def queries() -> dict[str, Any]:
    """By the name of their file."""
    pairs = "A.k = B.k"
    select = "A.k, A.s AS a, B.s AS b, A.ts AS at"
    three = "A.k = B.k AND B.k = C.k"
    near, far = (
        dv.join(*_streams("AB", window), on=pairs, select=select, order=order).named(name)
        for name, window, order in (("near", "2 seconds", "none"), ("far", "8 seconds", "hold"))
    )
    spill = dv.budget(memory=dv.tuples(40), policy="spill")
    return {
        "inner": dv.join(*_streams("AB", "8 seconds"), on=pairs, select=select),
        "full_hold": dv.join(*_streams("AB", "8 seconds"), on=pairs, select=select, how="full", order="hold"),
        "semi_sync": dv.join(*_streams("AB", "8 seconds"), on=pairs, select="A.k, A.s AS a", how="semi", order="sync"),
        "rows_per_key": dv.join(*_streams("AB", dv.rows(2, per="key")), on=pairs, select=select),
        "band_adaptive": dv.join(
            *_streams("AB", "8 seconds"), on="ABS(A.k - B.k) <= 1", select=select, order="adaptive"
        ),
        "counts": dv.sql(
            "SELECT A.k, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW 8 SECONDS", *_streams("AB", None)
        ),
        "tree": dv.join(
            *_streams("ABC", "8 seconds"), on=three, select="A.k, C.s AS c, A.ts AS at, B.ts AS bt", plan="binary"
        ),
        "spill": dv.join(*_streams("AB", "8 seconds"), on=pairs, select=select, budget=spill, order="hold"),
        "cpu": dv.join(*_streams("AB", "8 seconds"), on=pairs, select=select, budget=dv.budget(cpu=1.0)),
        "shared": dv.share(near, far),
        **_since_2(pairs, select),
    }


def _since_2(pairs: str, select: str) -> dict[str, Any]:
    """What format 1 did not have."""
    (left,), (right,) = _streams("A", None), _streams("B", None, asof=dv.asof(tolerance="4 seconds"))
    ahead = _streams("AB", "8 seconds", ahead="1 hour")
    (matched,) = _streams("B", "8 seconds", match="nearest")
    (one,) = _streams("A", "8 seconds")
    prices = dv.table("B", key="k", time="ts", delay="2 seconds", schema=SCHEMA)
    by_stream = dv.join(
        *_streams("ABC", "8 seconds"),
        on="A.k = B.k AND A.s <> C.s AND A.k = C.k",
        select="A.k, A.s AS a, B.s AS b",
        how={"B": "left", "C": "semi"},
    )
    return {
        "asof": dv.join(left, right, on=pairs, select=select),
        "ahead": dv.join(*ahead, on=pairs, select=select, order="hold"),
        "dedup": dv.join(*_streams("AB", "8 seconds", dedup="k"), on=pairs, select=select, how="left"),
        "table": dv.join(left, prices, on=pairs, select=select, how="left"),
        "match": dv.join(one, matched, on=pairs, select=select),
        "by_stream": by_stream,
        "threads": dv.join(*_streams("AB", "8 seconds"), on=pairs, select=select, how="full"),
    }


SINCE_2 = ("asof", "ahead", "dedup", "table", "match", "by_stream", "threads")


def local_of(name: str) -> dict[str, Any]:
    """How a query is run embedded: on one thread, if there is anything to choose."""
    return {} if name == "shared" else {"threads": 2 if name == "threads" else 1}


@contextmanager
def threads_at_once() -> Iterator[None]:
    """Inside, the smallest pushes are dealt out to threads, where a query has several."""
    with patch.object(pays, "LARGE_ROWS", 1), patch.object(pays.Pays, "several", lambda self, stored: True):
        yield


def pushes(names: str, first_s: int, last_s: int) -> Iterator[tuple[str, pa.Table]]:
    """Half a second of each stream at a time, a little out of order."""
    for half in range(2 * first_s, 2 * last_s):
        for place, name in enumerate(names):
            random = np.random.default_rng([half, place])
            times = np.sort(random.integers(0, SECOND // 2, 12)) + half * SECOND // 2 - random.integers(0, SECOND, 12)
            texts = [f"{name}{half}.{at}" for at in range(12)]
            columns = [pa.array(times).cast(pa.timestamp("us")), pa.array(random.integers(0, 9, 12)), pa.array(texts)]
            yield name, pa.table(columns, schema=SCHEMA)


def streams_of(query: Any) -> str:
    """The names of a query's streams."""
    found = query.groups.streams if hasattr(query, "groups") else query.model.streams
    return "".join(stream.name for stream in found)


BEFORE, AFTER = (0, 12), (12, 24)  # seconds that were pushed before the state was written, and after
