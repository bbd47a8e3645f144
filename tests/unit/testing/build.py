"""Small queries and batches by hand: columns ts, k (int64) and x (float64); times are plain numbers."""

from typing import Any

import pyarrow as pa

from dovetail.model.expression import Call, Column, Expression, Literal
from dovetail.model.output import Output
from dovetail.model.predicate import Equality
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow, Window
from dovetail.testing import Push

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64()})


def key(stream: str) -> Column:
    return Column(stream, "k", pa.int64())


def number(stream: str) -> Column:
    return Column(stream, "x", pa.float64())


def above(stream: str, value: float) -> tuple[str, Expression]:
    return stream, Call("gt", (number(stream), Literal(value, pa.float64())), pa.bool_())


def stream(name: str, window: Window | int, **options: Any) -> Stream:
    return Stream(name, SCHEMA, "ts", TimeWindow(window) if isinstance(window, int) else window, **options)


def query(*streams: Stream, **options: Any) -> JoinQuery:
    """All streams agree on k; the result has every stream's time, as a number, and x."""
    first, *others = (each.name for each in streams)
    select = []
    for each in streams[:1] if options.get("how") in ("semi", "anti") else streams:
        time = Call("epoch_us", (Column(each.name, "ts", pa.timestamp("us")),), pa.int64())
        select += [Output(each.name, time), Output(f"{each.name}_x", number(each.name))]
    predicates = tuple(Equality(key(first), key(other)) for other in others)
    return JoinQuery(**{"streams": streams, "predicates": predicates, "filters": (), "select": tuple(select)} | options)


def push(name: str, *rows: tuple[Any, ...]) -> Push:
    """Rows as (time,), (time, k) or (time, k, x)."""
    full = [(*row, *(0, 0.0)[len(row) - 1 :]) for row in rows]
    columns = [pa.array(column, type_) for column, type_ in zip(zip(*full, strict=True), SCHEMA.types, strict=True)]
    return Push.of(name, pa.table(columns, SCHEMA))


def times(rows: pa.Table) -> list[tuple[Any, ...]]:
    """(result time, time of each member), in order."""
    names = [name for name in rows.column_names if not name.endswith("_x")]
    columns = [rows["result_time"].cast(pa.int64()).to_pylist(), *(rows[name].to_pylist() for name in names[1:])]
    return sorted(zip(*columns, strict=True), key=str)
