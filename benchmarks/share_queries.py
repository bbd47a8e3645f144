"""The queries of the benchmark ``share``, and count and checksum of what each of them got.

Windows of 1 to 100 ms, the first query's the largest; every other query has a condition of its own. Outputs are small:
a hundredth of a row per input row and query at most.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.checksum import Sum, sum_of
from benchmarks.workloads import SECOND, Workload

SELECT = ("A.k", "A.ts AS a_ts", "B.ts AS b_ts")
CHECKED, TIMES = ("k", "a_ts", "b_ts"), ("a_ts", "b_ts")


def windows(count: int) -> list[int]:
    """Microseconds, one per query."""
    return [SECOND // 1000 * (100 - at % 100) for at in range(count)]


def condition(at: int) -> str | None:
    """What a query asks of its first stream alone.

    >>> [condition(at) for at in range(4)]
    [None, 'A.v > 0.1', None, 'A.v > 0.3']
    """
    return f"A.v > 0.{at % 10}" if at % 2 else None


def queries(workload: Workload, count: int, data: dict[str, Any] | None = None) -> list[dv.Query]:
    """Over rows that are pushed, or over data."""
    inputs = {name: {"data": data[name]} if data else {"schema": t.schema} for name, t in workload.tables.items()}
    streams = [dv.stream(name, time="ts", **given) for name, given in inputs.items()]
    made = []
    for at, window in enumerate(windows(count)):
        on = " AND ".join(filter(None, (workload.on, condition(at))))
        query = dv.join(*streams, on=on, select=", ".join(SELECT), window=f"{window} microseconds")
        made.append(query.named(f"q{at}"))
    return made


def sums_of(results: Iterable[pa.Table]) -> dict[str, Sum]:
    """Count and checksum of each query's rows among those of all."""
    rows = pa.concat_tables(results).combine_chunks()
    if not rows.num_rows:
        return {}
    names = rows["query"].combine_chunks().dictionary_encode()
    order = np.argsort(names.indices.to_numpy(), kind="stable")
    ends = np.cumsum(np.bincount(names.indices.to_numpy()))
    sorted_rows = rows.take(pa.array(order))
    starts = [0, *ends.tolist()[:-1]]
    pieces = [sorted_rows.slice(start, end - start) for start, end in zip(starts, ends.tolist(), strict=True)]
    return {name: sum_of(piece, CHECKED) for name, piece in zip(names.dictionary.to_pylist(), pieces, strict=True)}
