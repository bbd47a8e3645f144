"""Two streams A and B with uniform keys, and what the real join does with them: results per second, CPU time.

Example: two tuples of each stream per second, one key, windows of 5 seconds: 2 * 2 * (5 + 5) results a second.

    >>> a, b = Fed(2, 5, 1), Fed(2, 5, 1)
    >>> 35 < results_per_second(a, b, seconds=500) < 45
    True
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.engine.operator.engine import Engine
from experiments.kang_model import Kind
from experiments.turns import quickest

_SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})


@dataclass(frozen=True)
class Fed:
    """A stream as the join gets it: tuples per second, seconds of window (0: it only probes), keys.

    Of a stream that is too fast, each tuple is pushed with probability ``pushed``, and dropped otherwise.
    """

    rate: float
    window_s: float
    keys: int
    pushed: float = 1.0

    def regulated(self, rate: float) -> "Fed":
        """Dropping so many that ``rate`` is left."""
        return replace(self, pushed=rate / self.rate)


def rows_of(stream: Fed, start_s: float, end_s: float, random: np.random.Generator) -> pa.Table:
    """Tuples at random moments, keys all equally often, dropped at random."""
    count = random.poisson(stream.rate * (end_s - start_s))
    times = np.sort(random.integers(int(start_s * 1e6), int(end_s * 1e6), count))
    kept = random.random(count) < stream.pushed
    keys = random.integers(0, stream.keys, count)
    return pa.table({"ts": pa.array(times[kept], pa.timestamp("us")), "k": pa.array(keys[kept])})


def joined(a: Fed, b: Fed, stored: str | Mapping[str, str] = "auto") -> dv.Query:
    """The join of both on the key."""
    streams = (
        dv.stream(name, time="ts", window=f"{fed.window_s} seconds", schema=_SCHEMA)
        for name, fed in (("A", a), ("B", b))
    )
    return dv.join(*streams, on="A.k = B.k", select="A.k", algorithm=stored)


def results_per_second(a: Fed, b: Fed, seconds: float, seed: int = 1) -> float:
    """Counted once the windows have filled."""
    random = np.random.default_rng(seed)
    engine = Engine(joined(a, b).plan)
    full_s = max(a.window_s, b.window_s)
    _push(engine, a, b, 0, full_s, random)
    return _push(engine, a, b, full_s, full_s + seconds, random) / seconds


def cpu_times(a: Fed, b: Fed, ways: Mapping[str, tuple[Kind, Kind]], repeats: int) -> dict[str, float]:
    """CPU seconds to join 60 seconds' worth of tuples in one batch, windows full before, by how they are stored.

    They take turns, in each turn with the same tuples.
    """
    took = {way: partial(_timed, a, b, dict(zip("AB", kinds, strict=True))) for way, kinds in ways.items()}
    return quickest(took, repeats)


def _timed(a: Fed, b: Fed, stored: Mapping[str, str], seed: int) -> float:
    random = np.random.default_rng(seed)
    engine = Engine(joined(a, b, stored).plan)
    _push(engine, a, b, 0, 60, random)
    batch = {"A": rows_of(a, 60, 120, random), "B": rows_of(b, 60, 120, random)}
    started = process_time()
    for _ in engine.push(batch):
        pass
    return process_time() - started


def _push(engine: Engine, a: Fed, b: Fed, start_s: float, end_s: float, random: np.random.Generator) -> int:
    batch = {"A": rows_of(a, start_s, end_s, random), "B": rows_of(b, start_s, end_s, random)}
    return sum(results.num_rows for results in engine.push(batch))
