"""Rows of one stream on disk, under a number, and what is known of them without reading them."""

from dataclasses import asdict, dataclass
from typing import Any

from dovetail.engine.buffer.header import check_kinds


@dataclass(frozen=True)
class Part:
    """Rows that may be an answer, or rows that are owed theirs."""

    number: int
    stream: str
    rows: int
    bytes: int
    earliest: int
    latest: int

    @staticmethod
    def from_json(values: dict[str, Any]) -> "Part":
        check_kinds(values, asdict(_EXAMPLE), "a spilled part")
        return Part(**values)


_EXAMPLE = Part(0, "", 0, 0, 0, 0)  # what a stored part looks like
