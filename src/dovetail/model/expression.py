"""Bound expressions: every column is resolved to its stream and every node knows its Arrow type.

The tree is what the language becomes and what the engine evaluates over whole columns. Functions
are named by what they do; ``FUNCTIONS`` lists the names an evaluator must know:

    T.value > 40 AND NOT H.ok   ->   and(gt(T.value, 40), not(H.ok))
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dovetail.errors import QueryError

FUNCTIONS = frozenset(
    "eq ne lt le gt ge and or not is_null add subtract multiply divide modulo negate abs cast coalesce case in like "
    "lower upper length trim concat substring round floor ceil sqrt power exp ln sign greatest least nullif "
    "year month day hour minute second date_trunc epoch_us inner_product cosine_similarity user".split()
)


@dataclass(frozen=True)
class Column:
    """A column of one stream; without a stream, of the groups of an aggregating query."""

    stream: str
    name: str
    type: pa.DataType

    def __str__(self) -> str:
        return f"{self.stream}.{self.name}" if self.stream else self.name


@dataclass(frozen=True)
class Literal:
    """A constant, as a Python value (None is NULL)."""

    value: Any
    type: pa.DataType

    def __str__(self) -> str:
        return repr(self.value) if self.value is not None else "NULL"


@dataclass(frozen=True)
class UserFunction:
    """A user's own function over whole columns: Arrow or NumPy arrays in, one array out."""

    name: str
    callable: Callable[..., Any]
    arguments: tuple[pa.DataType, ...]
    result: pa.DataType

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise QueryError(f"a function needs a name, not {self.name!r}")
        if not callable(self.callable):
            raise QueryError(f"function {self.name!r}: {self.callable!r} cannot be called; give a function of columns")


@dataclass(frozen=True)
class Call:
    """A function of other expressions; ``user`` is set when ``function`` is "user"."""

    function: str
    arguments: tuple["Expression", ...]
    type: pa.DataType
    user: UserFunction | None = None

    def __str__(self) -> str:
        name = self.user.name if self.user else self.function
        suffix = f" as {self.type}" if self.function == "cast" else ""
        return f"{name}({', '.join(map(str, self.arguments))}{suffix})"


Expression = Column | Literal | Call
_STREAMS = "_streams"


def columns_of(expression: Expression) -> Iterator[Column]:
    """Every column mentioned, with repeats, left to right."""
    if isinstance(expression, Column):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from columns_of(argument)


def streams_of(expression: Expression) -> frozenset[str]:
    """The names of the streams mentioned; found once, since planning asks very often."""
    known: frozenset[str] | None = vars(expression).get(_STREAMS)
    if known is None:
        known = frozenset(column.stream for column in columns_of(expression))
        vars(expression)[_STREAMS] = known
    return known
