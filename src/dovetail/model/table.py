"""Tables beside streams: of each key the row that is valid at the time of the row it is asked for.

    with a time      versions: one is valid from its time until the next of its key
    without one      the same rows at all times, under one time before all others

Unlike the rows of an as-of stream, of which the best is chosen among those that meet all conditions, the version that
is valid is chosen by its key alone; conditions then say whether it is an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dovetail.errors import QueryError, StreamError, nearest
from dovetail.model.expression import Column
from dovetail.model.predicate import Equality, Predicate

ALWAYS = "__always"  # the time column of a table that has none
ALWAYS_US = -62_135_596_800_000_000  # its one value: the first moment of the year 1, which every clock can show


@dataclass(frozen=True)
class Table:
    """What makes a stream a table: its key, and the time up to which it must have come to be loaded.

    Loaded, it follows the other streams: they wait for its versions no longer than its delay. Without ``ready_us``
    they wait as they do for any stream, or until its data have ended.
    """

    key: tuple[str, ...]
    ready_us: int | None = None


def as_key(key: Any) -> tuple[str, ...]:
    """The columns of a key: one, or several."""
    return tuple(key or ()) if key is None or (isinstance(key, Sequence) and not isinstance(key, str)) else (key,)


def check_table(name: str, schema: pa.Schema, table: Any) -> None:
    """StreamError unless the table has a key, of columns that there are."""
    if not isinstance(table, Table):
        raise StreamError(f"stream {name!r}: table={table!r}: make a table with dovetail.table(...)")
    odd = next((column for column in table.key if not isinstance(column, str)), None)
    if odd is not None:
        raise StreamError(f"table {name!r}: key={odd!r}: name a column, or several in a list")
    if not table.key:
        raise StreamError(f"table {name!r} has no key; say with key= which columns tell its rows apart")
    for column in table.key:
        if column not in schema.names:
            raise StreamError(f"table {name!r} has no column {column!r} for its key; {nearest(column, schema.names)}")


def is_key(predicate: Predicate, name: str, table: Table | None) -> bool:
    """Whether a predicate ties a column of the key of the table ``name`` to another stream."""
    return table is not None and any(column in table.key for column in _compared(predicate, name))


def _compared(predicate: Predicate, name: str) -> list[str]:
    """The column of a stream that an equality compares as it is."""
    sides = (predicate.left, predicate.right) if isinstance(predicate, Equality) else ()
    return [side.name for side in sides if isinstance(side, Column) and side.stream == name]


def check_key_tied(name: str, table: Table, predicates: Sequence[Predicate], answered: str) -> None:
    """QueryError unless every column of the key is tied by an equality: else several rows would be valid at a time."""
    tied = {column for predicate in predicates for column in _compared(predicate, name)}
    free = [column for column in table.key if column not in tied]
    if free:
        raise QueryError(
            f"table {name!r} has the key {', '.join(table.key)}, and no condition ties {free[0]!r} to {answered!r}; "
            f"add {answered}.{free[0]} = {name}.{free[0]}"
        )
