"""Finite input in pieces that grow, for whoever wants the first results and not all of them.

    A   1,000,000 rows      of time order:   what both have up to 09:00, up to 09:02, up to 09:06, ...
    B      10,000 rows      of no windows:   512 of A and 5 of B, twice as many, four times as many, ...

Pieces are small at first, so that results come after a few rows, and double, so that all of the input takes about as
long as in one piece. Without windows any row may meet any other, so that an equal share of every table gives results
soonest, whatever the times of its rows (a ripple join: Haas and Hellerstein, 1999); that needs no order of time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.model.query import JoinQuery
from dovetail.model.window import UNBOUNDED_US, TimeWindow

FIRST_ROWS = 512  # joined in about a millisecond
_LAST = 1 << 62  # behind every time
Push = Mapping[str, pa.Table | pa.RecordBatch]
Tables = dict[str, pa.Table]
Times = npt.NDArray[np.int64]
Cuts = Callable[[int], dict[str, int]]


def any_order(query: JoinQuery) -> bool:
    """Whether it makes no difference in which order rows come: none expires, and results may leave in any order."""
    endless = all(isinstance(stream.window, TimeWindow) and stream.window.unbounded for stream in query.streams)
    return endless and query.order == "none" and query.answered is None


def for_first_rows(query: JoinQuery) -> JoinQuery:
    """The same query as it gives results soonest: by one operator, which waits for no other, and rows in any order."""
    query = replace(query, plan="multiway") if query.plan == "auto" else query
    if not any_order(query):
        return query
    return replace(query, streams=tuple(replace(stream, delay_us=UNBOUNDED_US) for stream in query.streams))


def in_growing_pieces(pushes: Iterator[Push], query: JoinQuery) -> Iterator[Push]:
    """The same rows in pieces; in order of time, unless that makes no difference."""
    size = FIRST_ROWS
    for push in pushes:
        tables = {name: pa.table(rows) for name, rows in push.items()}
        cuts = _shares(tables) if any_order(query) else _by_time(tables, query)
        starts, done, whole = dict.fromkeys(tables, 0), 0, sum(table.num_rows for table in tables.values())
        while done < whole:
            done, size = min(whole, done + size), 2 * size
            stops = cuts(done)
            yield {name: table.slice(starts[name], stops[name] - starts[name]) for name, table in tables.items()}
            starts = stops


def _shares(tables: Tables) -> Cuts:
    """An equal share of each table."""
    counts = {name: table.num_rows for name, table in tables.items()}
    return lambda done: {name: -(-count * done // sum(counts.values())) for name, count in counts.items()}


def _by_time(tables: Tables, query: JoinQuery) -> Cuts:
    """Of each table the rows that are not after the time of the row at this place among all; puts them in order."""
    times = {}
    for name, table in tables.items():
        own = _times(table, query.stream(name).time)
        if (own[1:] < own[:-1]).any():
            places = np.argsort(own, kind="stable")
            tables[name], own = table.take(pa.array(places)), own[places]
        times[name] = own
    merged = np.sort(np.concatenate([*times.values(), [_LAST]]), kind="stable")  # runs are merged
    return lambda done: {name: int(np.searchsorted(own, merged[done - 1], "right")) for name, own in times.items()}


def _times(table: pa.Table, time: str) -> Times:
    """Microseconds; rows without a time come last."""
    stamps = table[time].cast(pa.timestamp("us", table.schema.field(time).type.tz), safe=False)
    values: Times = pc.fill_null(stamps.cast(pa.int64()), _LAST).to_numpy()
    return values


def first(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    """The first rows of some batches; nothing more is asked for."""
    for batch in batches:
        yield batch.slice(0, limit)
        limit -= batch.num_rows
        if limit <= 0:
            return
