"""Random sets of queries that share: one join predicate, own windows, conditions, select lists and orders."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.window import RowWindow, Window
from tests.properties.queries import FILTERS, OUTPUTS, Draw, RandomQuery, queries, time_windows

SCHEDULES = ["greedy", "smallest", "largest"]
ORDERS = ["none", "none", "sync", "hold", "adaptive"]


def other_window(draw: Draw, like: Window | None) -> Window:
    """A window of the same kind."""
    if isinstance(like, RowWindow):
        return replace(like, count=draw(st.integers(1, 4)))
    window: Window = draw(time_windows())
    return window


@st.composite
def query_sets(draw: Draw, /, drawn: RandomQuery, most: int = 20, **options: Any) -> list[dv.Query]:
    """Queries over the streams and with the predicate of one."""
    names = [stream.name for stream in drawn.streams]
    made = []
    for number in range(draw(st.sampled_from([1, 2, 3, 5, most]))):
        query = drawn.with_windows(*(other_window(draw, stream.window) for stream in drawn.streams))
        extra = [draw(st.sampled_from(FILTERS)).format(a=name) for name in names if draw(st.integers(0, 3)) == 3]
        chosen = [draw(st.sampled_from(OUTPUTS)).format(a=name) for name in names]
        own = replace(query, on=" AND ".join([query.on, *extra]), select=", ".join(chosen))
        made.append(own.build(order=draw(st.sampled_from(ORDERS)), **options).named(f"query {number}"))
    return made


@st.composite
def shared_sets(draw: Draw, /, most_streams: int = 3, **options: Any) -> tuple[RandomQuery, list[dv.Query]]:
    """A query, and a set that shares with it."""
    drawn = draw(queries(most=most_streams))
    return drawn, draw(query_sets(drawn, **options))


def rows_of(results: pa.Table, query: dv.Query) -> pa.Table:
    """The rows of one query among those of all, as it would give them alone."""
    own = results.filter(pc.equal(results["query"], query.name))
    return own.select(query.schema.names).cast(query.schema)
