"""The state of an operator: sections, each with rows in slices and a small header of plain values.

    ("window/T", 1200)  ->  a record batch of the tuples with ids 1200, 1201, ...

Slices are written once and deleted when they are no longer needed; headers are written with every batch. Whatever must
survive is a section; the header of an operator is the headers of its sections and nothing else.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

SliceKey = tuple[str, int]
Slices = dict[SliceKey, pa.RecordBatch]


@dataclass(frozen=True)
class Changes:
    """What happened to the state since the last call: new slices, gone slices, and one small header."""

    new: Slices
    gone: list[SliceKey]
    header: bytes


class Section(Protocol):
    """A part of the state under one name."""

    section: str

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        """Slices to write and slices to delete since the last call."""

    def state(self) -> Slices:
        """All slices, without taking note of having written them."""

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        """A slice read back, in order of number."""

    def drop(self, numbers: set[int]) -> None:
        """Slices that are gone elsewhere."""

    def header(self) -> dict[str, Any]:
        """What else is needed to go on."""

    def restore(self, header: dict[str, Any]) -> None:
        """The header read back, after all slices."""


class HeaderSection:
    """Base of sections that have no rows, only a header."""

    def changes(self) -> tuple[Slices, list[SliceKey]]:
        return {}, []

    def state(self) -> Slices:
        return {}

    def load(self, number: int, rows: pa.RecordBatch) -> None:
        raise ValueError(f"slice {number} of a section that has no rows")

    def drop(self, numbers: set[int]) -> None:
        """There are none."""


def whole_numbers(counts: dict[str, Any]) -> dict[str, int]:
    """The same numbers, if that is what they are: a state may have been written by anybody."""
    return {name: int(value) for name, value in counts.items()}
