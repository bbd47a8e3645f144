"""What an as-of join needs: one stream that is answered, and conditions that tie each of the others to it."""

from collections.abc import Sequence

from dovetail.errors import QueryError
from dovetail.model.predicate import Equality, Predicate, predicate_streams
from dovetail.model.stream import Stream
from dovetail.model.table import check_key_tied


def answered(streams: Sequence[Stream]) -> str | None:
    """The stream whose rows are answered: the one without ``asof``; None if no stream has it."""
    if all(stream.asof is None for stream in streams):
        return None
    own = [stream.name for stream in streams if stream.asof is None]
    if len(own) != 1:
        named = "none is left" if not own else f"{', '.join(map(repr, own))} are"
        raise QueryError(
            f"an as-of join answers the rows of one stream, the one without asof=, and here {named}; "
            "give all others an asof="
        )
    return own[0]


def check_asof_streams(streams: Sequence[Stream], name: str) -> None:
    """No stream of an as-of join has a window; tolerances say how far the answers may be."""
    windowed = next((stream for stream in streams if stream.window is not None), None)
    if windowed is not None:
        hint = "leave it out" if windowed.name == name else "say how far its rows may be with asof(tolerance=...)"
        raise QueryError(f"stream {windowed.name!r} has a window, and an as-of join has none; {hint}")


def check_asof(streams: Sequence[Stream], name: str, predicates: Sequence[Predicate], how: str) -> None:
    """QueryError unless each as-of stream is tied to the stream ``name``, and ``how`` is what they say."""
    for predicate in predicates:
        others = predicate_streams(predicate) - {name}
        if len(others) != 1:
            between = ", ".join(map(repr, sorted(predicate_streams(predicate))))
            raise QueryError(
                f"condition '{predicate}' is about {between}; in an as-of join a condition ties one as-of stream to "
                f"{name!r}, whose rows are answered. Answer {name!r} in a query of its own first, in order, and let "
                "its results be the stream that is answered next"
            )
        (other,) = others
        stream = next(each for each in streams if each.name == other)
        assert stream.asof is not None
        if not isinstance(predicate, Equality) and stream.asof.tolerance_us is None and stream.table is None:
            raise QueryError(
                f"condition '{predicate}' makes an older row of {other!r} the best, so all of them would have to be "
                f"kept for ever; limit them with asof(tolerance=...)"
            )
    for stream in streams:
        if stream.table is not None:
            check_key_tied(stream.name, stream.table, predicates, name)
    said = "left" if any(each.asof is not None and each.asof.how == "left" for each in streams) else "inner"
    if how != said:
        raise QueryError(f"how={how!r} does not say it for each as-of stream; make the query anew with it")
