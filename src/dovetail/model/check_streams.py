"""The streams of a query: two or more, each with a name of its own and a window, all with zones or all without."""

from collections.abc import Sequence
from typing import Any

from dovetail.errors import QueryError
from dovetail.model.check_asof import answered, check_asof_streams
from dovetail.model.stream import Stream


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
    zoned = [stream for stream in streams if stream.time_type.tz is not None]
    if zoned and len(zoned) < len(streams):
        plain = next(stream for stream in streams if stream.time_type.tz is None)
        raise QueryError(
            f"stream {zoned[0].name!r} has times with a zone ({zoned[0].time_type}) and stream {plain.name!r} "
            f"without one ({plain.time_type}); convert one of them"
        )
