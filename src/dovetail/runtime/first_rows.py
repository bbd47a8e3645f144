"""Finite input in pieces that grow, for whoever wants the first results and not all of them.

    A   1,000,000 rows      of time order:   what both have up to 09:00, up to 09:02, up to 09:06, ...
    B      10,000 rows      of no windows:   512 of A and 5 of B, twice as many, four times as many, ...
                            B read whole:    10,000 of B and 512 of A, twice as many of A, ...

Pieces are small at first, so that results come after a few rows, and double, so that all of the input takes about as
long as in one piece. Without windows any row may meet any other, whatever the times of its rows, so that no order of
time is needed: small tables are read whole first where that is predicted to take less work (``plan.first_results``).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.model.expression import Column
from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery
from dovetail.model.window import UNBOUNDED_US, TimeWindow
from dovetail.plan.calibrate import load_weights
from dovetail.plan.first_results import FirstResults, as_query, choose_first
from dovetail.plan.physical import Plan
from dovetail.plan.plan_query import plan_query
from dovetail.plan.report import plan_report
from dovetail.plan.tree_report import query_report

FIRST_ROWS = 512  # joined in about a millisecond
_SAMPLE = 4096  # rows of a column whose values are counted: a fraction of a millisecond, and an error of a few per cent
_LAST = 1 << 62  # behind every time
Push = Mapping[str, pa.Table | pa.RecordBatch]
Tables = dict[str, pa.Table]
Times = npt.NDArray[np.int64]
Cuts = Callable[[int], dict[str, int]]


def any_order(query: JoinQuery) -> bool:
    """Whether it makes no difference in which order rows come: none expires, and results may leave in any order."""
    endless = all(isinstance(stream.window, TimeWindow) and stream.window.unbounded for stream in query.streams)
    return endless and query.order == "none" and query.answered is None


def for_first_rows(query: JoinQuery, limit: int) -> tuple[Plan, tuple[str, ...]]:
    """The plan by which results come soonest, and the tables to be read whole before others: rows in any order, if so.

    In order of time it is one operator, which waits for no other.
    """
    if any_order(query):
        query = replace(query, streams=tuple(replace(stream, delay_us=UNBOUNDED_US) for stream in query.streams))
    ways = ways_to_first(query, limit)
    if not ways:
        return plan_query(replace(query, plan="multiway") if query.plan == "auto" else query), ()
    best = ways[0]
    return (best.plan if best.tree is None else plan_query(as_query(best))), best.whole


def ways_to_first(query: JoinQuery, limit: int) -> list[FirstResults]:
    """How the first results of tables in memory may be made, the cheapest first; none where there is no choice."""
    tables = {
        stream.name: stream.data for stream in query.streams if isinstance(stream.data, pa.Table | pa.RecordBatch)
    }
    plain = query.how == "inner" and query.aggregation is None and query.budget is None
    if not plain or not any_order(query) or len(tables) < len(query.streams):
        return []
    counts = {name: rows.num_rows for name, rows in tables.items()}
    return choose_first(query, counts, _distinct(query, tables), limit, load_weights())


def first_report(query: JoinQuery, limit: int) -> dict[str, Any]:
    """The plan for the first results, as plain values for programs."""
    ways, weights = ways_to_first(query, limit), load_weights()
    if not ways:
        report = query_report(replace(query, plan="multiway") if query.plan == "auto" else query, weights)
        return report | {"first": {"limit": limit, "by_time": not any_order(query)}}
    best, shared = ways[0], next(way for way in ways if not way.whole)
    one = best.tree is None
    report = plan_report(best.plan, best.known, weights) if one else query_report(as_query(best), weights)
    told = {"whole": [*best.whole], "rows": dict(best.rows), "seconds": best.seconds, "shared_s": shared.seconds}
    return report | {"first": {"limit": limit, "by_time": False, **told}}


def _distinct(query: JoinQuery, tables: Push) -> dict[str, float]:
    """About how many values each key has, where it is a column of plain values."""
    sides = [side for each in query.predicates if isinstance(each, Equality) for side in (each.left, each.right)]
    columns = [side for side in sides if isinstance(side, Column) and not pa.types.is_nested(side.type)]
    held = [side for side in columns if side.name in tables[side.stream].schema.names]
    return {str(side): _values(tables[side.stream].column(side.name)) for side in held}


def _values(column: pa.Array | pa.ChunkedArray) -> float:
    """Values in a sample; those seen once stand for others too (GEE: Charikar and others, 2000)."""
    sampled = min(len(column), _SAMPLE)
    if not sampled:
        return 0.0
    drawn = column.take(pa.array(np.linspace(0, len(column) - 1, sampled).astype(np.int64)))
    counts = pc.value_counts(drawn).field("counts").to_numpy()
    once = int((counts == 1).sum())
    return float(np.sqrt(len(column) / sampled) * once + len(counts) - once)


def in_growing_pieces(pushes: Iterator[Push], query: JoinQuery, whole: Collection[str] = ()) -> Iterator[Push]:
    """The same rows in pieces; in order of time, unless that makes no difference. The first has some tables whole."""
    size = FIRST_ROWS
    for push in pushes:
        tables = {name: pa.table(rows) for name, rows in push.items()}
        cuts = _shares(tables, whole) if any_order(query) else _by_time(tables, query)
        starts, all_rows = dict.fromkeys(tables, 0), sum(table.num_rows for table in tables.values())
        done = sum(table.num_rows for name, table in tables.items() if name in whole)
        while starts != {name: table.num_rows for name, table in tables.items()}:
            done, size = min(all_rows, done + size), 2 * size
            stops = cuts(done)
            yield {name: table.slice(starts[name], stops[name] - starts[name]) for name, table in tables.items()}
            starts = stops


def _shares(tables: Tables, whole: Collection[str]) -> Cuts:
    """Some tables whole, and of each of the others an equal share of what is left."""
    counts = {name: table.num_rows for name, table in tables.items()}
    ahead, others = (sum(n for name, n in counts.items() if (name in whole) == first) for first in (True, False))
    return lambda done: {
        name: count if name in whole else -(-count * (done - ahead) // max(1, others)) for name, count in counts.items()
    }


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
