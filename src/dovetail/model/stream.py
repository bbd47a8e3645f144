"""A named input: what its rows look like, which column is event time, how far back it counts."""

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.model.window import Window


@dataclass(frozen=True)
class Stream:
    """One input of a query, as ``dovetail.stream`` builds it; it stands in queries under ``name``.

    ``declared``: the name it was made with, if a query knows it by an alias. ``ahead_us``: how far a row may lie ahead.
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

    @property
    def time_type(self) -> pa.DataType:
        return self.schema.field(self.time).type
