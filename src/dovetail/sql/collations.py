"""Texts with a collation, which are refused where they would be compared or grouped: Dovetail compares bytes.

    A.name = B.name   ->   'A.name' has Spark's collation UTF8_LCASE ...

They may be selected, measured and put together; the results are plain texts.
"""

from collections.abc import Iterator, Sequence

from dovetail.errors import QueryError
from dovetail.model.collation import BY_BYTES, collation_of
from dovetail.model.expression import Call, Column, Expression, columns_of
from dovetail.model.stream import Stream

_COMPARING = frozenset("eq ne lt le gt ge in like greatest least nullif user".split())


def check_comparisons(expression: Expression, streams: Sequence[Stream]) -> None:
    """QueryError if a comparison inside the expression is of a text with a collation."""
    for compared in _compared(expression):
        check_plain(compared, streams)


def check_plain(expression: Expression, streams: Sequence[Stream]) -> None:
    """QueryError if the expression, which is compared or grouped as a whole, is made of a text with a collation."""
    for column in columns_of(expression):
        collation = _collation(column, streams)
        if collation is not None:
            raise QueryError(
                f"column '{column}' has Spark's collation {collation}, and Dovetail compares texts by their bytes; "
                f"cast it in the DataFrame first: "
                f'withColumn("{column.name}", functions.collate("{column.name}", "{BY_BYTES}"))'
            )


def _collation(column: Column, streams: Sequence[Stream]) -> str | None:
    stream = next((stream for stream in streams if stream.name == column.stream), None)
    known = stream is not None and column.name in stream.schema.names  # a field of a structure has none
    return collation_of(stream.schema.field(column.name)) if stream is not None and known else None


def _compared(expression: Expression) -> Iterator[Expression]:
    if not isinstance(expression, Call):
        return
    for argument in expression.arguments:
        if expression.function in _COMPARING:
            yield argument
        else:
            yield from _compared(argument)
