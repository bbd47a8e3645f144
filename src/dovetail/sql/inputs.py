"""The streams that a query names, under their names in it, each with a window.

    FROM Temperature T, Humidity H WINDOW T 1 MINUTE     ->   T (window 1 minute), H (the window it was declared with)

A window in the text is stronger than that of the stream, which is stronger than the option ``window=``.
"""

from collections.abc import Sequence
from dataclasses import replace

from dovetail.errors import nearest
from dovetail.model.expression import streams_of
from dovetail.model.how import words_of
from dovetail.model.intervals import with_implied_windows
from dovetail.model.predicate import Equality
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow, Window
from dovetail.sql.condition import Condition
from dovetail.sql.from_clause import From, Input
from dovetail.sql.place import Source, Span
from dovetail.sql.scope import find_name
from dovetail.sql.window_clause import OwnWindow


def named_streams(inputs: Sequence[Input], streams: Sequence[Stream], source: Source) -> list[Stream]:
    """The streams that FROM names, under the names they have in the query."""
    named: list[Stream] = []
    for each in inputs:
        known = [stream.name for stream in streams]
        found = find_name(each.declared, known)
        if found is None:
            tail = nearest(each.declared, known).replace("it has", "there is", 1)
            raise source.at(f"there is no stream '{each.declared}'; {tail}", each.node)
        if find_name(each.name, [stream.name for stream in named]):
            raise source.at(f"two streams are named '{each.name}' here; give one an alias: FROM A x, A y", each.node)
        own = streams[known.index(found)]
        named.append(replace(own, name=each.name if each.name != each.declared else found, declared=found))
    if len(named) < 2:
        raise source.at("a join needs two streams or more, and FROM names one", inputs[0].node)
    return named


def windowed(
    streams: Sequence[Stream], windows: Sequence[OwnWindow], default: Window | None, source: Source
) -> tuple[Stream, ...]:
    """Each stream with the window that the text gives it, or its own, or that of the options, or none."""
    names = [stream.name for stream in streams]
    given: dict[str, Window] = {}
    for each in windows:
        found = find_name(each.stream, names) if each.stream else None
        if each.stream and found is None:
            tail = nearest(each.stream, names).replace("it has", "the query has", 1)
            raise source.error(f"there is no stream '{each.stream}'; {tail}", each.span)
        given.update(dict.fromkeys(names, each.window) if found is None else {found: each.window})
        if found is None and default is not None:
            raise source.error("a window for all is given here and as window=; give it once", each.span)
    chosen = {stream.name: given.get(stream.name) or stream.window or default for stream in streams}
    return tuple(replace(stream, window=chosen[stream.name]) for stream in streams)


def bounded(said: From, streams: Sequence[Stream], condition: Condition, source: Source) -> tuple[Stream, ...]:
    """The streams, those without a window with the one that conditions on their times imply."""
    words = words_of(said.how, [stream.name for stream in streams]) if said.stepwise else None
    found = with_implied_windows(streams, condition.predicates, words)
    without = next((each for each, stream in zip(said.inputs, found, strict=True) if stream.window is None), None)
    if without is not None:
        message = (
            f"stream '{without.name}' has no window; end the query with one, as in WINDOW 10 MINUTES, or, to keep its "
            f"rows for ever, WINDOW {without.name} UNBOUNDED"
        )
        raise source.at(message, without.node)
    return found


def check_keys(streams: Sequence[Stream], condition: Condition, windows: Sequence[OwnWindow], source: Source) -> None:
    """A row window per key needs an equality to take the key from."""
    sides = [side for each in condition.predicates if isinstance(each, Equality) for side in (each.left, each.right)]
    for stream in streams:
        per_key = isinstance(stream.window, RowWindow) and stream.window.per == "key"
        if per_key and not any(streams_of(side) == {stream.name} for side in sides):
            place = next((each.span for each in windows if each.window == stream.window), Span(0, 1))
            raise source.error(f"stream '{stream.name}' has a window per key, but no equality gives it a key", place)
