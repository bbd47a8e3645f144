"""Made-up streams: asynchronous and untidy ones, the correlated ones of the papers, and Wisconsin relations.

>>> feed = Feed(rate=50, disorder=2.0, null_keys=0.1)
>>> trace = random_stream(feed, seconds=10, seed=1)
>>> trace.rows.schema.names, len(trace.arrival_us) == trace.rows.num_rows
(['ts', 'key', 'value'], True)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.testing.arrivals import Times, poisson
from dovetail.testing.script import Close, Event, Push, Script

_SECOND = 1_000_000  # in microseconds


@dataclass(frozen=True)
class Feed:
    """How one made-up stream behaves; durations are seconds, and shares are between 0 and 1."""

    rate: float = 10.0
    keys: int = 10
    lag: float = 0.0
    drift: float = 0.0
    disorder: float = 0.0
    ties: float = 0.0
    duplicates: float = 0.0
    null_keys: float = 0.0
    nan_values: float = 0.0


@dataclass(frozen=True)
class Trace:
    """Rows in order of arrival (event time ``ts``, ``key``, ``value``), and when each arrived."""

    rows: pa.Table
    arrival_us: Times


def random_stream(feed: Feed, seconds: float, seed: int) -> Trace:
    """A Poisson stream whose event times trail its arrivals.

    A row that arrives at a was made at ``a - lag - drift * a - u``, where u is at random between 0 and ``disorder``:
    a stream declared with that much delay has no late row.
    """
    random = np.random.default_rng(seed)
    arrival = poisson(feed.rate, seconds, seed)
    count = len(arrival)
    behind = np.floor(feed.lag * _SECOND + feed.drift * arrival)
    shuffled = np.floor(random.random(count) * feed.disorder * _SECOND)
    made = arrival - (behind + shuffled).astype(np.int64)
    columns = {
        "ts": _tied(random, made, feed.ties),
        "key": random.integers(0, feed.keys, count),
        "value": np.where(random.random(count) < feed.nan_values, np.nan, random.normal(0, 1, count)),
    }
    rows = _repeated(random, columns, feed.duplicates)
    nulls = random.random(count) < feed.null_keys
    table = pa.table(
        {
            "ts": pa.array(rows["ts"]).cast(pa.timestamp("us")),
            "key": pa.array(rows["key"], mask=nulls),
            "value": pa.array(rows["value"], from_pandas=False),
        }
    )
    return Trace(table, arrival)


def _tied(random: np.random.Generator, times: Times, share: float) -> Times:
    """Some rows take the time of the row before them, if that is not older: promises of disorder stay true."""
    before = np.concatenate((times[:1], times[:-1]))
    tied: Times = np.where(random.random(len(times)) < share, np.maximum(before, times), times)
    return tied


def _repeated(
    random: np.random.Generator, columns: dict[str, np.ndarray[Any, Any]], share: float
) -> dict[str, np.ndarray[Any, Any]]:
    """Some rows are the row before them once more."""
    own = np.arange(len(columns["ts"]))
    source = np.where((random.random(len(own)) < share) & (own > 0), own - 1, own)
    return {name: values[source] for name, values in columns.items()}


def interleave(traces: Mapping[str, Trace], every: float = 0.0) -> Script:
    """The streams of several traces as one script, in order of arrival and closed at the end.

    Rows of one stream become one batch while no other stream comes between them; with ``every``, all that
    arrives within so many seconds is one batch of several streams.
    """
    names = list(traces)
    owner = np.concatenate([np.full(len(traces[name].arrival_us), place) for place, name in enumerate(names)])
    arrival = np.concatenate([traces[name].arrival_us for name in names])
    row = np.concatenate([np.arange(len(traces[name].arrival_us)) for name in names])
    order = np.lexsort((row, owner, arrival))
    group = arrival[order] // round(every * _SECOND) if every else owner[order]
    events: list[Event] = []
    for piece in np.split(order, np.flatnonzero(np.diff(group)) + 1):
        held = {names[place]: row[piece[owner[piece] == place]] for place in np.unique(owner[piece])}
        events.append(Push({name: traces[name].rows.take(pa.array(rows)) for name, rows in held.items()}))
    return [*events, Close()]


def correlated_values(
    times_us: Times, lag: float, deviation: float, seed: int, domain: float = 1000.0, period: float = 50.0
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """X(t) = (domain / period) (t + lag) + deviation N(0, 1), modulo the domain.

    Without deviation, streams with equal lags carry equal values at equal times:

    >>> times = np.array([0, 10_000_000, 60_000_000])
    >>> correlated_values(times, lag=5, deviation=0, seed=1).tolist()
    [100.0, 300.0, 300.0]
    """
    noise = np.random.default_rng(seed).standard_normal(len(times_us))
    values: np.ndarray[Any, np.dtype[np.float64]] = (domain / period) * (times_us / _SECOND + lag) + deviation * noise
    return values % domain


def wisconsin(count: int, distinct: Mapping[str, int], seed: int) -> pa.Table:
    """A relation in which every value 0 .. d-1 of a column occurs equally often, in random order.

    >>> table = wisconsin(6, {"unique": 6, "two": 2}, seed=0)
    >>> sorted(table["two"].to_pylist()), sorted(table["unique"].to_pylist())
    ([0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5])
    """
    random = np.random.default_rng(seed)
    for name, values in distinct.items():
        if count % values:
            raise ValueError(f"column {name!r}: {count} rows cannot hold {values} values equally often")
    return pa.table({name: random.permutation(np.arange(count) % values) for name, values in distinct.items()})
