"""The query that is killed, and what happens to it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
Happening = Callable[[Any], pa.Table]


def query(folder: Path | None) -> dv.Query:
    """Three streams, joined on one attribute; without a folder nothing is spilled."""
    streams = [dv.stream(name, time="ts", window="4 milliseconds", schema=SCHEMA) for name in "ABC"]
    budget = None if folder is None else dv.budget(memory=dv.tuples(200), policy="spill", folder=folder)
    select = "A.k, A.ts AS a, B.ts AS b, C.ts AS c"
    return dv.join(*streams, on="A.k = B.k AND B.k = C.k", select=select, budget=budget)


def _push(name: str, rows: pa.Table, run: Any) -> pa.Table:
    return run.push(name, rows)


def _tick(now: int, run: Any) -> pa.Table:
    return run.tick(now)


def events() -> list[Happening]:
    """Batches, a pause after every third, and the end."""
    random, happenings = np.random.default_rng(8), list[Happening]()
    for at in range(12):
        for name in "ABC":
            times = np.sort(random.integers(at * 1000, (at + 1) * 1000, 40))
            rows = pa.table([pa.array(times).cast(SCHEMA.field(0).type), random.integers(0, 30, 40)], SCHEMA)
            happenings.append(partial(_push, name, rows))
        if at % 3 == 2:
            happenings += [partial(_tick, at * 10**6), partial(_tick, at * 10**6 + 5 * 10**5)]
    return [*happenings, lambda run: run.close()]
