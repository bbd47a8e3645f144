"""Sliding aggregates over the results of a join.

A join result counts from its result time up to and including the smallest ``time + window`` of its members. Each
moment at which results of a group come or go gives one row of that group: what is true at that moment.

    windows of 10 s, T at 0 s and 4 s, H at 5 s       COUNT(*)
    5 s            both results come                  2
    10.000001 s    the result of T at 0 s has left    1
    14.000001 s    that of T at 4 s has left          0

The select list of such a query is in two parts: the columns that the join must give (keys of the groups, arguments,
and ``until``), and what comes out, over the keys and the aggregates.
"""

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from dovetail.model.expression import Call, Column, Expression
from dovetail.model.expression import Literal as Constant
from dovetail.model.output import Output
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow

AggregateFunction = Literal["count", "sum", "avg", "min", "max", "before"]  # before: the count just before the moment

GROUP = ""  # stands as the stream of columns that are keys or aggregates
UNTIL = "until"
FOR_EVER = 1 << 62  # as ``until``: after all times


@dataclass(frozen=True)
class Aggregate:
    """One aggregate: of a column of the joined rows, or of the rows themselves (``argument`` is None)."""

    name: str
    function: AggregateFunction
    argument: str | None
    distinct: bool
    type: pa.DataType
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Aggregation:
    """Keys of the groups, by the names of joined columns; the aggregates; and what comes out of both.

    ``having``: of the rows that would come out, only those for which it is true do.
    """

    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    select: tuple[Output, ...]
    texts: tuple[str, ...] = ()
    having: Expression | None = None

    def __str__(self) -> str:
        of = f" for each {', '.join(self.texts)}" if self.texts else ""
        having = "" if self.having is None else f", having {self.having}"
        return f"{', '.join(map(str, self.aggregates))}{of}{having}"


def until(streams: tuple[Stream, ...]) -> Expression:
    """The last moment at which a result counts, in microseconds: the smallest ``time + window`` of its members."""
    ends = tuple(_end(stream) for stream in streams)
    return ends[0] if len(ends) == 1 else Call("least", ends, pa.int64())


def _end(stream: Stream) -> Expression:
    if stream.expiry is not None:
        return Column(stream.name, stream.expiry, pa.int64())
    assert isinstance(stream.window, TimeWindow), "row windows are refused when the query is built"
    if stream.window.unbounded:
        return Constant(FOR_EVER, pa.int64())
    time = Call("epoch_us", (Column(stream.name, stream.time, stream.time_type),), pa.int64())
    return Call("add", (time, Constant(stream.window.length_us, pa.int64())), pa.int64())
