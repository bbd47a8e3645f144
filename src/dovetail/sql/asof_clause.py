"""ASOF JOIN: which stream is answered, and which row of each other stream is its best.

    FROM T ASOF LEFT JOIN Q MATCH_CONDITION (T.ts >= Q.ts) ON T.k = Q.k       the last row of Q at or before T.ts
    FROM T ASOF JOIN Q ON T.k = Q.k AND T.ts >= Q.ts                          the same, without rows that have none
    ... AND T.ts <= Q.ts + INTERVAL '5' SECOND                                not further away than 5 seconds
    FROM T ASOF JOIN Q ON T.k = Q.k AND T.ts - INTERVAL '5' SECOND >= Q.ts    the last row 5 seconds before T.ts or more

The comparison of the two time columns is no condition like others: its direction says which row is the best, and a
bound on the other side is the tolerance. A stream may say so itself (``asof=``); then the text compares no times.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dovetail.errors import StreamError
from dovetail.model.asof import AsOf, Missing
from dovetail.model.check_asof import answered
from dovetail.model.how import words_of
from dovetail.model.intervals import column_of
from dovetail.model.predicate import Band, Predicate
from dovetail.model.stream import Stream
from dovetail.sql.condition import Condition
from dovetail.sql.from_clause import From
from dovetail.sql.place import Source
from dovetail.sql.window_clause import OwnWindow

_NEEDED = "MATCH_CONDITION ({t} >= {q}), or the same in ON"


def with_own_words(said: From, known: Sequence[Stream], source: Source) -> From:
    """LEFT JOIN and JOIN of several streams that are as-of streams by themselves, each with its word, as ASOF JOIN."""
    if not said.stepwise:
        return said
    words = words_of(said.how, [stream.name for stream in known])
    for stream, each in zip(known, said.inputs, strict=True):
        if stream.asof is None and words.get(stream.name, "inner") != "inner":
            raise source.at(
                f"the rows of '{stream.name}' are those that are answered: name it first in FROM", each.node
            )
    refused = [word for word in words.values() if word not in ("inner", "left")]
    own = {stream.name for stream in known if stream.asof is not None}
    missing: dict[str, Missing] = {name: "left" if word == "left" else "inner" for name, word in words.items()}
    asof = tuple((name, word) for name, word in missing.items() if name in own)
    return replace(said, how=refused[0] if refused else "left", asof=asof)


def marked(streams: Sequence[Stream], said: From) -> tuple[Stream, ...]:
    """The streams, those that ASOF JOIN names or that say so themselves as as-of streams."""
    words = dict(said.asof)
    other: Missing = "left" if said.how == "left" and not words else "inner"
    return tuple(
        replace(each, asof=replace(each.asof or AsOf(), how=words.get(each.name, other)))
        if each.asof is not None or each.name in words
        else each
        for each in streams
    )


def check_without_windows(windows: Sequence[OwnWindow], source: Source) -> None:
    """QueryError at a WINDOW clause."""
    if windows:
        raise source.error(
            "an as-of join has no WINDOW: say how far away a row may be, as in T.ts <= Q.ts + INTERVAL '5' SECOND",
            windows[0].span,
        )


def check_where(where: exp.Expr, after: Condition, streams: Sequence[Stream], source: Source) -> None:
    """Conditions on the answered stream leave rows out; others would judge rows that were chosen already."""
    own = answered(streams)
    if after.predicates or any(name != own for name, _ in after.filters):
        raise source.at(
            f"WHERE after ASOF JOIN takes conditions on '{own}' alone: one on a row that was chosen would leave out "
            "the result. Put it into ON, where it says which rows can be chosen",
            where,
        )


def with_settings(
    streams: Sequence[Stream], given: Sequence[Stream], said: From, condition: Condition, source: Source
) -> tuple[tuple[Stream, ...], Condition]:
    """The streams with what the comparisons of times say about them, and the conditions that are left.

    ``given`` are the streams as they were made: some may have an ``asof`` of their own.
    """
    name = answered(streams)
    assert name is not None
    own = next(stream for stream in streams if stream.name == name)
    if said.how == "left" and len(streams) > 2 and any(stream == name for stream, _ in condition.filters):
        raise source.at(
            f"a condition on '{name}' alone in the ON of one of several joins is not available; give '{name}' a stream "
            "of rows that meet it",
            said.inputs[0].node,
        )
    found: list[Stream] = []
    predicates = list(condition.predicates)
    for stream, made, each in zip(streams, given, said.inputs, strict=True):
        if stream.asof is None:
            found.append(stream)
            continue
        bands = [predicate for predicate in predicates if _compares(predicate, own, stream)]
        predicates = [predicate for predicate in predicates if predicate not in bands]
        try:
            found.append(replace(stream, asof=_settings(stream, made, own, bands, stream.asof.how)))
        except StreamError as error:
            raise source.at(str(error), each.node) from None
    return tuple(found), replace(condition, predicates=tuple(predicates))


def _settings(stream: Stream, made: Stream, own: Stream, bands: Sequence[Predicate], how: Missing) -> AsOf:
    t, q = f"{own.name}.{own.time}", f"{stream.name}.{stream.time}"
    if made.asof is not None and bands:
        raise StreamError(
            f"stream '{stream.name}' has an asof= of its own; leave it out, or do not compare {t} with {q}"
        )
    if made.asof is not None:
        return replace(made.asof, how=how)
    if not bands:
        raise StreamError(f"ASOF JOIN needs {_NEEDED.format(t=t, q=q)}")
    (band,) = bands
    assert isinstance(band, Band)
    low, high = band.low, band.high
    low_strict, high_strict = band.low_strict, band.high_strict
    if column_of(band.left) == (stream.name, stream.time):  # seen from the answered stream
        low, high = (None if high is None else -high), (None if low is None else -low)
        low_strict, high_strict = high_strict, low_strict
    if low == 0 and high == 0:
        raise StreamError(f"ASOF JOIN takes the best row in one direction, {t} >= {q} or {t} <= {q}, and here are both")
    within = None if low is None or high is None else high - low
    if low is not None and (high is None or low >= 0):
        return AsOf("backward", _tolerance(within, high_strict), not low_strict, how, -int(low))
    if high is not None and (low is None or high <= 0):
        return AsOf("forward", _tolerance(within, low_strict), not high_strict, how, -int(high))
    raise StreamError(
        f"ASOF JOIN takes the best row in one direction, and this range lies on both sides of {t}; leave out one of "
        "its ends, or take a stream with asof=dovetail.asof('nearest', tolerance=...)"
    )


def _tolerance(bound: float | None, strict: bool) -> int | None:
    if bound is None:
        return None
    if bound < strict:
        raise StreamError("ASOF JOIN: no time is in this range; nothing can match")
    return int(bound) - strict


def _compares(predicate: Predicate, own: Stream, other: Stream) -> bool:
    """Whether a predicate is about the times of the two streams."""
    times = {(stream.name, stream.time) for stream in (own, other)}
    return isinstance(predicate, Band) and {column_of(predicate.left), column_of(predicate.right)} == times
