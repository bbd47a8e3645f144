"""A script: what happens to a query, in order, so that one story can be told to every runtime.

    Push.of("T", table), Advance("H", 5_000_000), Push.of("H", table), Close()

Nothing in a script depends on a clock: ``Tick`` hands processing time in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Push:
    """A batch arrives: rows of one stream or of several at once, each in order of arrival."""

    batch: Mapping[str, pa.Table]

    @classmethod
    def of(cls, stream: str, rows: pa.Table) -> "Push":
        """A batch of one stream."""
        return cls({stream: rows})

    def __repr__(self) -> str:
        return f"Push({', '.join(f'{name}: {rows.to_pylist()}' for name, rows in self.batch.items())})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks, and tools that print failing examples, show the rows as well."""
        printer.text(repr(self))


@dataclass(frozen=True)
class Advance:
    """A promise: the stream will send nothing older than ``time_us``."""

    stream: str
    time_us: int


@dataclass(frozen=True)
class Tick:
    """Processing time moves on; only streams with an ``idle`` duration notice."""

    now_us: int


@dataclass(frozen=True)
class Close:
    """The end of all input."""


Event = Push | Advance | Tick | Close
Script = Sequence[Event]
