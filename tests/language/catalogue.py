"""The streams and the function that the queries of the corpus are over, and a query in a few lines."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

import dovetail as dv
from dovetail.model.aggregate import Aggregation

TIME = {"ts": pa.timestamp("us")}
READING = pa.schema({"LocationId": pa.int64(), "Value": pa.float64(), **TIME})
ITEM = pa.schema({"ItemType": pa.string(), **TIME})
NEWS = pa.schema({"title": pa.string(), "words": pa.list_(pa.float32()), **TIME})
WIDE = pa.schema(
    {
        "k": pa.int64(),
        "x": pa.int64(),
        "y": pa.float64(),
        "s": pa.string(),
        "ok": pa.bool_(),
        "d": pa.date32(),
        "p": pa.decimal128(10, 2),
        "window": pa.int64(),
        "odd name": pa.int32(),
        **TIME,
    }
)
PLACE = pa.struct({"id": pa.int64(), "at": pa.struct({"lat": pa.float64(), "lon": pa.float64()})})
SCHEMAS = {
    "Trips": pa.schema({"trip": PLACE, **TIME}),
    "Temperature": READING,
    "Humidity": READING,
    "SensorReadings1": ITEM,
    "SensorReadings2": ITEM,
    "CNN": NEWS,
    "Reuters": NEWS,
    "BBC": NEWS,
    "A": WIDE,
    "B": WIDE,
    "C": WIDE,
    "odd stream": WIDE,
}
STREAMS = [dv.stream(name, time="ts", schema=schema) for name, schema in SCHEMAS.items()]
STREAMS.append(dv.stream("Alerts", time="ts", schema=WIDE, window="3 minutes"))

CORRELATED = dv.function(
    "correlated", lambda a, b: pc.less(pc.abs(pc.subtract(a, b)), 5.0), ["float64", "float64"], "bool"
)


def summary(text: str) -> Iterator[str]:
    """The kind of join, windows, predicates, filters and columns of a query, one per line."""
    query = dv.sql(text, *STREAMS).model
    yield query.how
    for stream in query.streams:
        counts = f"window {stream.window}" if stream.asof is None else f"as of, {stream.asof}, {stream.asof.how}"
        yield f"{stream.name}: {counts}"
    for predicate in query.predicates:
        yield f"{type(predicate).__name__.lower()} {predicate}"
    for name, expression in query.filters:
        yield f"only {name} if {expression}"
    for output in query.select:
        yield f"{output.name} {output.expression.type} = {output.expression}"
    if query.aggregation:
        yield from aggregates(query.aggregation)


def aggregates(aggregation: Aggregation) -> Iterator[str]:
    """The groups, the aggregates and what comes out, one per line."""
    yield f"for each {' & '.join(aggregation.keys)}" if aggregation.keys else "for all"
    for each in aggregation.aggregates:
        function = f"{each.function} distinct" if each.distinct else each.function
        yield f"{each.name} {each.type} = {function}({each.argument or '*'})"
    for output in aggregation.select:
        yield f"{output.name} {output.expression.type} = {output.expression}"
    if aggregation.having is not None:
        yield f"having {aggregation.having}"


def complaint(text: str) -> Iterator[str]:
    """What is wrong with a query, line by line."""
    try:
        dv.sql(text, *STREAMS)
    except dv.QueryError as error:
        yield from str(error).splitlines()
    else:
        yield "nothing is wrong"
