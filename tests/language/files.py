"""A pipeline file in a few lines, and what is wrong with it."""

from collections.abc import Iterator

from dovetail.cli.pipeline_file import routed
from dovetail.errors import QueryError
from dovetail.sql import parse_pipeline


def summary(text: str) -> Iterator[str]:
    """Streams, and queries with their sinks."""
    pipeline = parse_pipeline(text)
    for stream in pipeline.streams:
        columns = ", ".join(f"{column.name} {column.type}" for column in stream.columns)
        yield f"{stream.name}: {columns}; time {stream.time} less {stream.delay_us} us"
        yield f"    from {stream.format} {dict(stream.options)}"
        if stream.idle_us is not None:
            yield f"    silent after {stream.idle_us} us"
        if stream.ahead_us is not None:
            yield f"    ahead by {stream.ahead_us} us at most"
    for each in pipeline.derived:
        yield f"{each.name} is {' and '.join(each.united) or 'made of results'}"
    for route in routed(pipeline):
        sink, query = route.sink, route.query.model
        yield f"{query.how} join of {', '.join(query.names)} into {sink.name}: {', '.join(query.schema.names)}"
        yield f"    to {sink.format} {dict(sink.options)}, checkpoint {sink.checkpoint}"
        if (query.order, query.late, sink.trigger_us) != ("none", "drop", None):
            yield f"    order {query.order}, late {query.late}, every {sink.trigger_us} us"
        told = {name: value for name, value in sink.settings.items() if name not in ("order", "late")}
        if told or sink.schedule != "greedy":
            yield f"    schedule {sink.schedule}, {', '.join(f'{name} {value}' for name, value in told.items())}"


def complaint(text: str) -> Iterator[str]:
    """What is wrong with a file, line by line."""
    try:
        routed(parse_pipeline(text))
    except QueryError as error:
        yield from str(error).splitlines()
    else:
        yield "nothing is wrong"
