"""A named input: what its rows look like, which column is event time, how far back it counts."""

from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from dovetail.errors import StreamError, nearest
from dovetail.model.asof import AsOf
from dovetail.model.choice import not_one_of
from dovetail.model.dedup import Dedup, as_dedup, check_dedup
from dovetail.model.nested import with_fields
from dovetail.model.table import ALWAYS, Table, check_table
from dovetail.model.window import Window, as_window

MATCHES = ("first", "last", "nearest")
_LONGEST_US = 1 << 62  # a window and a delay together, as an intermediate result of a split plan waits for both


@dataclass(frozen=True)
class Stream:
    """One input of a query, as ``dovetail.stream`` builds it; it stands in queries under ``name``.

    ``declared``: the name it was made with, if a query knows it by an alias. ``ahead_us``: how far a row may lie ahead.
    ``expiry``: the column that says until when a tuple is inside, if that is not its time plus the window: tuples that
    are results of another operator have several members.
    ``asof``: only its best row for each row of another stream counts. ``dedup``: repeats of a row are dropped.
    ``table``: it is a table, of which the row of a key counts that is valid at a time.
    ``match``: of its rows that a row of another stream can be joined with only this one counts. ``rate``: its tuples
    per second, if the query was planned for them; the cells that share the work follow it.
    """

    name: str
    schema: pa.Schema
    time: str
    window: Window | None = None
    delay_us: int = 0
    idle_us: int | None = None
    data: Any = field(default=None, compare=False, repr=False)
    declared: str | None = field(default=None, compare=False, repr=False)
    ahead_us: int | None = None
    expiry: str | None = None
    asof: AsOf | None = None
    dedup: Dedup | None = None
    table: Table | None = None
    match: Literal["first", "last", "nearest"] | None = None
    rate: float | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise StreamError(f"a stream needs a name, not {self.name!r}")
        _check_columns(self.name, self.schema)
        if isinstance(self.time, str):
            object.__setattr__(self, "schema", with_fields(self.schema, [self.time]))
        _check_time_column(self.name, self.schema, self.time)
        _check_length(self.name, "delay", self.delay_us)
        _check_length(self.name, "idle", 0 if self.idle_us is None else self.idle_us)
        _check_length(self.name, "ahead", 0 if self.ahead_us is None else self.ahead_us)
        if self.asof is not None and not isinstance(self.asof, AsOf):
            raise StreamError(f"stream {self.name!r}: asof={self.asof!r}: make one with dovetail.asof(...)")
        if self.match is not None and self.match not in MATCHES:
            raise StreamError(f"stream {self.name!r}: {not_one_of('match', self.match, MATCHES)}")
        object.__setattr__(self, "dedup", as_dedup(self.dedup))
        if self.dedup is not None:
            check_dedup(self.name, self.schema, self.dedup)
        if self.table is not None:
            check_table(self.name, self.schema, self.table)
        if self.window is not None:
            try:
                object.__setattr__(self, "window", as_window(self.window))
            except StreamError as error:
                raise StreamError(f"stream {self.name!r}: {error}") from error

    @property
    def ends(self) -> bool:
        """Whether it is known to end: a table, or files that are read once."""
        going_on = getattr(self.data, "isStreaming", False)  # Spark's word for it, of a DataFrame
        return self.data is not None and bool(getattr(self.data, "static", not going_on))

    @property
    def timeless(self) -> bool:
        """Whether it is a table whose rows are valid at all times."""
        return self.time == ALWAYS

    @property
    def time_type(self) -> pa.DataType:
        return self.schema.field(self.time).type


def _check_columns(name: str, schema: Any) -> None:
    if not isinstance(schema, pa.Schema):
        raise StreamError(f"stream {name!r}: schema is a {type(schema).__name__}; give a pyarrow.Schema")
    twice = next((column for column in schema.names if schema.names.count(column) > 1), None)
    if twice is not None:
        raise StreamError(f"stream {name!r} has more than one column {twice!r}; rename one")


def _check_time_column(name: str, schema: pa.Schema, time: Any) -> None:
    """The event-time column exists and is a timestamp."""
    if not isinstance(time, str):
        raise StreamError(f"stream {name!r}: time={time!r}: it is the name of the column that holds event time")
    if time not in schema.names:
        known = nearest(time, schema.names)
        raise StreamError(f"stream {name!r} has no column {time!r} to take its time from; {known}")
    found = schema.field(time).type
    if not pa.types.is_timestamp(found):
        raise StreamError(
            f"stream {name!r}: time column {time!r} has type {found}, and needs a timestamp. "
            "A number has no unit: cast it, for example with pyarrow.compute.cast(column, pyarrow.timestamp('ms'))."
        )


def _check_length(name: str, option: str, us: Any) -> None:
    if isinstance(us, bool) or not isinstance(us, int) or not 0 <= us <= _LONGEST_US:
        raise StreamError(f"stream {name!r}: {option} is a whole number of microseconds, 0 or more, not {us!r}")
