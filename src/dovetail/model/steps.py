"""Joins of one stream after the other: which condition decides about which stream.

    A LEFT JOIN B ON A.k = B.k LEFT JOIN C ON A.k = C.k AND B.paid

A conjunct belongs to the last stream that it names, in the order of the query. One that stands in the ON of another
stream (``B.paid`` above, which is about C) is tied to that stream: it holds for C's rows only where it is true.
"""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from dovetail.errors import QueryError
from dovetail.model.check_parts import not_in_result
from dovetail.model.expression import Call, Column, Expression, Literal
from dovetail.model.how import KEEPING, How
from dovetail.model.predicate import Predicate, Residual, predicate_streams
from dovetail.model.stream import Stream
from dovetail.model.window import UNBOUNDED_US, TimeWindow

# functions that may give something for NULL
_TAKE_NULL = {"and", "or", "is_null", "coalesce", "case", "in", "greatest", "least", "nullif", "user"}


def step_of(predicate: Predicate, names: Sequence[str]) -> str:
    """The stream whose partners a predicate decides about."""
    return max(predicate_streams(predicate), key=names.index)


def tied_to(stream: Stream, condition: Expression) -> Residual:
    """A condition on other streams, as one that decides about this stream: its time is never NULL."""
    time = Column(stream.name, stream.time, stream.schema.field(stream.time).type)
    there = Call("not", (Call("is_null", (time,), pa.bool_()),), pa.bool_())
    return Residual(Call("and", (condition, there), pa.bool_()))


def with_own_conditions(
    streams: Sequence[Stream], predicates: Iterable[Predicate], filters: Sequence[tuple[str, Expression]]
) -> tuple[tuple[Predicate, ...], tuple[tuple[str, Expression], ...]]:
    """Conditions on the first stream alone become conditions on every other: a row that fails one has no partner."""
    first, *others = streams
    own = [condition for name, condition in filters if name == first.name]
    tied = [tied_to(stream, condition) for condition in own for stream in others]
    return (*predicates, *tied), tuple(each for each in filters if each[0] != first.name)


def there_with(
    some: Iterable[str], names: Sequence[str], words: Mapping[str, How], predicates: Sequence[Predicate]
) -> frozenset[str]:
    """The streams that are in every combination in which these are: what their conditions compare them with, and so on.

    A combination begins with the first stream, or with a row of one that keeps its rows and that nothing before fits.
    """
    there = frozenset(some)
    while True:
        before = names[: min(map(names.index, there)) + 1]
        joined = there - ({before[-1]} if words.get(before[-1]) in KEEPING else set())
        needed = [needed_by(each) for each in predicates if step_of(each, names) in joined]
        more = there.union(*needed, () if any(words.get(name) in KEEPING for name in before) else names[:1])
        if more == there:
            return there
        there = more


def kept_for_us(streams: Sequence[Stream], words: Mapping[str, How]) -> dict[str, int]:
    """For each stream that keeps its rows: how long after a row's time it is known that nothing before it fits.

    What the row meets has come by the end of its window. Of that, a combination that lacks a partner is itself only
    certain when the first of its rows has left; one that begins later, when that is known of its first row.
    """
    kept: dict[str, int] = {}
    shortest, certain = _length_us(streams[0]), 0
    for stream in streams[1:]:
        word, alone = words[stream.name], _length_us(stream) + certain
        if word in KEEPING:
            kept[stream.name] = min(alone, UNBOUNDED_US)
        lacking = 0 if word in ("inner", "right") else shortest
        certain = max(certain, lacking, alone if word in KEEPING else 0)
        shortest = min(shortest, _length_us(stream))
    return kept


def known_after_us(streams: Sequence[Stream], words: Mapping[str, How]) -> dict[str, dict[str, int]]:
    """For each stream that keeps its rows: how far after a row's time each stream before it must have come.

    Then nothing of that stream decides any more whether something before fits the row. What fits has come by the end of
    the row's window. Whether it lacks a stream is known when that has passed it: at most the longest after that any
    combination before that stream stays. Whether a row begins one that fits is known when that is known of it.
    """
    known: dict[str, dict[str, int]] = {}
    stays, lacked = _length_us(streams[0]), {streams[0].name: 0}
    for stream in streams[1:]:
        word, own = words[stream.name], _length_us(stream)
        if word in KEEPING:
            longest = {name: max([us, *(each.get(name, 0) for each in known.values())]) for name, us in lacked.items()}
            known[stream.name] = {name: min(own + us, UNBOUNDED_US) for name, us in longest.items()}
        lacked[stream.name] = 0 if word in ("inner", "right") else stays
        stays = min(stays, own) if word in ("inner", "right") else stays
        stays = max(stays, own) if word in KEEPING else stays
    return known


def _length_us(stream: Stream) -> int:
    assert isinstance(stream.window, TimeWindow)
    return stream.window.length_us


def needed_by(predicate: Predicate) -> frozenset[str]:
    """The streams without which a predicate cannot hold, because a side of it is NULL where they are missing."""
    if isinstance(predicate, Residual):
        return frozenset()
    return _null_without(predicate.left) | _null_without(predicate.right)


def _null_without(expression: Expression) -> frozenset[str]:
    if isinstance(expression, Column):
        return frozenset({expression.stream})
    if isinstance(expression, Literal) or expression.function in _TAKE_NULL:
        return frozenset()
    return frozenset().union(*map(_null_without, expression.arguments))


def check_steps(
    names: Sequence[str],
    words: Mapping[str, How],
    predicates: Sequence[Predicate],
    filters: Sequence[tuple[str, Expression]],
    cross: bool,
) -> None:
    """QueryError unless each stream is tied to those before it, by conditions on rows that are in the results."""
    if any(name == names[0] for name, _ in filters):
        raise QueryError(f"a condition on '{names[0]}' alone decides about another stream; make the query anew")
    for name, word in words.items():
        own = [predicate for predicate in predicates if step_of(predicate, names) == name]
        if not own and not cross:
            before = ", ".join(map(repr, names[: names.index(name)]))
            raise QueryError(f"no condition ties '{name}' to {before}; name streams in the order of joining")
        for predicate in predicates if word in ("semi", "anti") else ():
            if name in predicate_streams(predicate) and predicate not in own:
                raise QueryError(f"condition '{predicate}': {not_in_result(name, names)}")
