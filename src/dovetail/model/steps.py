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
from dovetail.model.how import Word, check_words
from dovetail.model.predicate import Predicate, Residual, predicate_streams
from dovetail.model.stream import Stream

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


def ancestors(names: Sequence[str], predicates: Iterable[Predicate]) -> dict[str, frozenset[str]]:
    """For each stream those that a row of it cannot do without: what its conditions compare it with, and so on."""
    found = {name: frozenset({names[0], name}) for name in names}
    for name in names:
        for predicate in predicates:
            if step_of(predicate, names) == name:
                found[name] |= frozenset().union(*(found[each] for each in needed_by(predicate)))
    return found


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
    words: Mapping[str, Word],
    predicates: Sequence[Predicate],
    filters: Sequence[tuple[str, Expression]],
    cross: bool,
) -> None:
    """QueryError unless each stream is tied to those before it, by conditions on rows that are in the results."""
    check_words(words)
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
