"""The streams of a query: two or more, each with a name of its own and a window, all with zones or all without."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dovetail.errors import QueryError
from dovetail.model.check_asof import answered, check_asof_streams
from dovetail.model.dedup import comparable
from dovetail.model.expression import columns_of
from dovetail.model.predicate import Predicate, operands
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow


def check_streams(streams: Any) -> None:
    """QueryError unless these streams can be joined as they are."""
    if not isinstance(streams, tuple):
        raise QueryError(f"streams={streams!r}: they are a tuple of streams made with dovetail.stream(...)")
    check_several(streams)
    name = answered(streams)
    if name is not None:
        check_asof_streams(streams, name)
    without = next((stream.name for stream in streams if stream.window is None), None)
    if without is not None and name is None:
        raise QueryError(
            f"stream {without!r} has no window; give it one, or give the join one for all. Only what ends needs none, "
            "tables for example; window=dovetail.unbounded() keeps its rows for ever"
        )
    _check_zones(streams)


def check_several(streams: Sequence[Any]) -> None:
    """QueryError unless there are two or more, each with a name of its own."""
    if len(streams) < 2:
        raise QueryError(f"join: needs two streams or more, got {len(streams)}")
    check_named(streams)


def check_named(streams: Sequence[Any]) -> None:
    """QueryError unless all are streams, and each has a name of its own."""
    other = next((stream for stream in streams if not isinstance(stream, Stream)), None)
    if other is not None or any(stream is None for stream in streams):
        raise QueryError(f"join: {other!r} is not a stream; make one with dovetail.stream(...)")
    names = [stream.name for stream in streams]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise QueryError(
            f"two streams are named {twice!r}; give each its own name. A stream is joined with itself under aliases: "
            f"dovetail.sql('SELECT * FROM {twice} x, {twice} y WHERE x.k = y.k WINDOW 1 MINUTE', stream)"
        )


def _check_zones(streams: Sequence[Stream]) -> None:
    streams = [stream for stream in streams if not stream.timeless]
    zoned = [stream for stream in streams if stream.time_type.tz is not None]
    if zoned and len(zoned) < len(streams):
        plain = next(stream for stream in streams if stream.time_type.tz is None)
        raise QueryError(
            f"stream {zoned[0].name!r} has times with a zone ({zoned[0].time_type}) and stream {plain.name!r} "
            f"without one ({plain.time_type}); convert one of them"
        )


def with_dedup(stream: Stream, predicates: Iterable[Predicate]) -> Stream:
    """The stream with what a query says about its repeats; as it is if it knows already."""
    found = stream.dedup
    if found is None or found.compared:
        return stream
    within = found.within_us
    if within is None:
        if not isinstance(stream.window, TimeWindow):
            kind = "an as-of join" if stream.window is None else f"a window of {stream.window}"
            ids = ", ".join(map(repr, found.columns))
            raise QueryError(
                f"stream {stream.name!r}: dedup remembers rows for the length of the window, and {kind} has none; "
                f"say it with dovetail.dedup({ids}, within='10 minutes')"
            )
        within = stream.window.length_us
    used = {column.name for each in predicates for side in operands(each) for column in columns_of(side)
            if column.stream == stream.name}  # fmt: skip
    fields = [field for field in stream.schema if field.name in found.columns or field.name in used]
    compared = tuple(field.name for field in fields if comparable(field.type))
    return replace(stream, dedup=replace(found, within_us=within, compared=compared))
