"""The conjuncts of a join predicate, sorted by what the engine can do with each.

    T.location = H.location                       Equality       hash, or one code per key
    ABS(A.x - B.x) <= e,  A.x < B.y + 2           Band           a range of values
    COSINE_SIMILARITY(A.v, B.v) >= 0.9            Similarity     matrix products, then a threshold
    A.x = B.x OR (A.y = B.y AND A.z > B.z)        Alternatives   hash for each, then evaluated over candidate rows
    anything else over two or more streams        Residual       evaluated over candidate rows

A conjunct on one stream alone is not among them: it is a filter on that stream.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from dovetail.model.expression import Expression, streams_of


@dataclass(frozen=True)
class Equality:
    """``left = right``: one stream on each side, both of one type; NULL and NaN never match."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


@dataclass(frozen=True)
class Band:
    """``low <= left - right <= high`` over int64 or float64; None is unbounded, ``strict`` makes it ``<``.

    With one bound and that bound 0 it is a plain comparison and is made without subtracting. ``moved``, of floats only,
    makes it ``right + low <= left <= right + high``, which rounds differently.
    """

    left: Expression
    right: Expression
    low: float | int | None
    high: float | int | None
    low_strict: bool = False
    high_strict: bool = False
    moved: bool = False

    def __str__(self) -> str:
        if self.moved:
            return self._moved_text()
        parts = []
        if self.low is not None:
            parts.append(f"{self.low} {'<' if self.low_strict else '<='} ")
        parts.append(f"{self.left} - {self.right}")
        if self.high is not None:
            parts.append(f" {'<' if self.high_strict else '<='} {self.high}")
        return "".join(parts)

    def _moved_text(self) -> str:
        low, high = (
            "" if end is None else f"{self.right} {'+' if end >= 0 else '-'} {abs(end)}"
            for end in (self.low, self.high)
        )
        below = f"{low} {'<' if self.low_strict else '<='} " if low else ""
        above = f" {'<' if self.high_strict else '<='} {high}" if high else ""
        return f"{below}{self.left}{above}"


@dataclass(frozen=True)
class Similarity:
    """``measure(left, right) >= threshold`` over vectors of float64 (``strict``: ``>``)."""

    left: Expression
    right: Expression
    measure: OneOf["inner_product", "cosine_similarity"]
    threshold: float
    strict: bool = False

    def __str__(self) -> str:
        return f"{self.measure}({self.left}, {self.right}) {'>' if self.strict else '>='} {self.threshold}"


@dataclass(frozen=True)
class Residual:
    """Any other boolean expression over two or more streams."""

    expression: Expression

    def __str__(self) -> str:
        return str(self.expression)


@dataclass(frozen=True)
class Alternatives(Residual):
    """A disjunction between two streams: whatever meets it meets all equalities of one of the ``branches``."""

    branches: tuple[tuple[Equality, ...], ...]


Predicate = Equality | Band | Similarity | Residual
_STREAMS = "_streams"


def rewritten(predicate: Predicate, change: Callable[[Expression], Expression]) -> Predicate:
    """The same predicate about expressions that were changed."""
    if isinstance(predicate, Alternatives):
        branches = tuple(
            tuple(Equality(change(each.left), change(each.right)) for each in branch) for branch in predicate.branches
        )
        return Alternatives(change(predicate.expression), branches)
    if isinstance(predicate, Residual):
        return Residual(change(predicate.expression))
    return replace(predicate, left=change(predicate.left), right=change(predicate.right))


def predicate_streams(predicate: Predicate) -> frozenset[str]:
    """The names of the streams a predicate relates; found once, since planning asks very often."""
    known: frozenset[str] | None = vars(predicate).get(_STREAMS)
    if known is None:
        known = frozenset().union(*(streams_of(operand) for operand in operands(predicate)))
        vars(predicate)[_STREAMS] = known
    return known


def operands(predicate: Predicate) -> tuple[Expression, ...]:
    """What a predicate is about: its two sides, or its one expression."""
    return (predicate.expression,) if isinstance(predicate, Residual) else (predicate.left, predicate.right)
