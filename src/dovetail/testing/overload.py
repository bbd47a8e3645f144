"""A join with too much to do, on a simulated machine: so many comparisons a second, whatever this one can do.

The join is the real one, and leaves out real work; only its clock is made up. Rows come in when their event time says,
step by step; the CPU time used is that of the comparisons made.

    >>> import dovetail as dv, pyarrow as pa
    >>> rows = correlated_streams({"A": 0.0, "B": 1.0}, rate=20, seconds=20)
    >>> a, b = (dv.stream(name, time="ts", window="4 seconds", schema=rows[name].schema) for name in "AB")
    >>> query = dv.join(a, b, on="ABS(A.x - B.x) <= 1", algorithm="scan",
    ...     budget=dv.budget(cpu=1, policy=dv.harvest(interval="1 second")))
    >>> overload(query, rows, capacity=1e9).metrics["completeness"]
    1.0
    >>> log = overload(query, rows, capacity=2000)
    >>> log.metrics["used_s"] < 1.1 * log.metrics["given_s"], min(log.throttles) < 0.9
    (True, True)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.api import Query
from dovetail.testing.arrivals import poisson
from dovetail.testing.metered import MeteredRun
from dovetail.testing.streams import correlated_values

_SECOND = 1_000_000  # in microseconds


@dataclass
class Overloaded:
    """Results (``counts``) of every step; ``comparisons`` and ``drops`` (tuples) so far and ``throttles`` after it.

    ``cpu_s``: what each step took on this machine. ``metrics`` are the budget's at the end of the streams, ``final``
    those after what still waited then has been joined as well, whatever the time; so are ``rows``.
    """

    rows: pa.Table
    counts: list[int] = field(default_factory=list)
    comparisons: list[int] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    throttles: list[float] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    final: dict[str, Any] = field(default_factory=dict)

    def results(self, since: float, step: float = 0.1) -> int:
        """How many results came out after so many seconds."""
        return sum(self.counts[round(since / step) :])

    def compared(self, since: float, step: float = 0.1) -> int:
        """How many comparisons were made after so many seconds."""
        return self.comparisons[-1] - self.comparisons[round(since / step) - 1] if since else self.comparisons[-1]


def correlated_streams(
    lags: Mapping[str, float],
    rate: float,
    seconds: float,
    deviations: Mapping[str, float] | None = None,
    seed: int = 0,
    moves: Mapping[str, float] | None = None,
) -> dict[str, pa.Table]:
    """Streams of GrubJoin's kind: columns ``ts`` and ``x``, X(t) = 20 (t + lag) + deviation N(0, 1), modulo 1000.

    ``deviations``: 2 unless told otherwise. ``moves``: other lags from half of the time on.
    """
    streams = {}
    for at, (name, lag) in enumerate(lags.items()):
        times = poisson(rate, seconds, seed * 100 + at)
        deviation = 2.0 if deviations is None else deviations[name]
        values = correlated_values(times, lag, deviation, seed * 100 + at)
        if moves is not None:
            later = correlated_values(times, moves[name], deviation, seed * 100 + at)
            values = np.where(times < seconds / 2 * _SECOND, values, later)
        streams[name] = pa.table({"ts": pa.array(times).cast(pa.timestamp("us")), "x": values})
    return streams


def overload(query: Query, streams: Mapping[str, pa.Table], capacity: float, step: float = 0.1) -> Overloaded:
    """Play streams, sorted by time, against a query with a CPU budget; ``capacity``: comparisons per second."""
    return played(MeteredRun(query, capacity), streams, step)


def played(
    run: MeteredRun, streams: Mapping[str, pa.Table], step: float = 0.1, seconds: float | None = None
) -> Overloaded:
    """Play streams against a run, for so many seconds or until the last row, and then join what still waits."""
    times = {name: run.times(name, rows) for name, rows in streams.items()}
    last = max(int(each[-1]) for each in times.values() if len(each))
    end = last + 1 if seconds is None else round(seconds * _SECOND)
    log, tables = Overloaded(pa.table({})), [run.schema.empty_table()]
    for now, arrivals in in_steps(streams, times, end, round(step * _SECOND)):
        began = process_time()
        found = run.step(arrivals, now)
        log.cpu_s.append(process_time() - began)
        log.counts.append(sum(table.num_rows for table in found))
        log.comparisons.append(run.compared)
        log.drops.append(run.dropped)
        log.throttles.append(run.throttle)
        tables += found
    log.metrics = run.metrics()
    log.rows = pa.concat_tables([*tables, run.close()])
    log.final = run.metrics()
    return log


def in_steps(
    streams: Mapping[str, pa.Table], times: Mapping[str, npt.NDArray[np.int64]], end: int, step: int
) -> Iterator[tuple[int, dict[str, pa.Table]]]:
    """What came before each moment, and after the one before it; ``times``, ``end`` and ``step`` in microseconds."""
    for now in range(0, end, step):
        cuts = {name: np.searchsorted(at, [now, now + step]).tolist() for name, at in times.items()}
        yield now + step, {name: streams[name].slice(first, last - first) for name, (first, last) in cuts.items()}
