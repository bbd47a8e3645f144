"""Only one partner: of the rows of a stream that a row can be joined with, the first, the last or the nearest.

    A within 30 minutes, B within 5 minutes, match="first"       from 5 minutes before a row of A to 30 minutes after it

What a row can be joined with lies in one range of times, so this is an as-of join: the first row is the best forward
from the beginning of the range, the last one backward from its end, the nearest both ways from the row itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from dovetail.errors import QueryError
from dovetail.model.asof import AsOf
from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow

Match = Literal["first", "last", "nearest"]


def only_matches(streams: Sequence[Stream]) -> tuple[Stream, ...]:
    """The streams as those of an as-of join if some have a ``match``, as they are if not."""
    if all(stream.match is None for stream in streams):
        return tuple(streams)
    own = [stream for stream in streams if stream.match is None]
    if len(own) != 1 or any(stream.asof is not None for stream in streams):
        raise QueryError(
            "match= is for all streams of a join but one, the one whose rows are matched, and none of them has an "
            f"asof=; without match= {'is none' if not own else 'are ' + ', '.join(repr(each.name) for each in own)}"
        )
    ahead_us = _length_us(own[0])
    return tuple(
        replace(each, window=None, match=None, asof=_best(each, each.match, ahead_us) if each.match else None)
        for each in streams
    )


def _best(stream: Stream, match: Match, ahead_us: int) -> AsOf:
    back_us = _length_us(stream)
    if match == "first":
        return AsOf("forward", back_us + ahead_us, offset_us=-back_us)
    if match == "last":
        return AsOf("backward", back_us + ahead_us, offset_us=ahead_us)
    if back_us != ahead_us:
        raise QueryError(
            f"stream {stream.name!r}: match='nearest' needs windows of one length, so that rows before and after are "
            "alike; give both the same, or take 'first' or 'last'"
        )
    return AsOf("nearest", back_us)


def _length_us(stream: Stream) -> int:
    if not isinstance(stream.window, TimeWindow):
        kind = "no window" if stream.window is None else f"a window of {stream.window}"
        raise QueryError(f"stream {stream.name!r} has {kind}, and match= needs a time window for every stream")
    return stream.window.length_us
