"""The work of a batch, dealt out to tasks: whole pieces, neighbours together, about the same bytes each.

    A: files of 4, 4 and 2 MB, B: 6 MB, two tasks      task 0: A's 4 + 4       task 1: A's 2, B's 6

Each part of a task carries its place among all pieces. Rows are put back into order by it, so the order of arrival does
not depend on how many tasks there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import InputPartition

from dovetail.runtime.spark.source.feed import Piece

TASK_BYTES = 1 << 20  # for less than this another task costs more than it saves


@dataclass(frozen=True)
class Unread:
    """Row groups of a stream that are not read: their rows, and the largest time in them."""

    rows: int
    newest: int


@dataclass(frozen=True)
class Part:
    """Neighbouring pieces of one stream, and the place of the first; or what is told of those that are not read."""

    stream: str
    place: int
    pieces: tuple[Piece, ...]
    unread: Unread | None = None


class Task(InputPartition):
    """What one task reads, part after part, and the hot keys of its batch."""

    def __init__(self, parts: Sequence[Part], hot: Any = None) -> None:
        super().__init__((tuple(parts), hot))

    @property
    def parts(self) -> tuple[Part, ...]:
        parts: tuple[Part, ...] = self.value[0]
        return parts

    @property
    def hot(self) -> Any:
        return self.value[1]


def dealt_out(
    work: Mapping[str, Sequence[Piece]], most: int, hot: Any = None, unread: Mapping[str, Unread] | None = None
) -> list[Task]:
    """The pieces of all streams as at most so many tasks; the first tells of those that are not read."""
    total = sum(piece.bytes for pieces in work.values() for piece in pieces)
    count = max(1, min(most, -(-total // TASK_BYTES)))
    tasks: list[list[Part]] = [[] for _ in range(count)]
    tasks[0] += [Part(name, 0, (), told) for name, told in (unread or {}).items()]
    done = place = 0
    for name, pieces in work.items():
        for piece in pieces:
            number = min(count - 1, (done + piece.bytes // 2) * count // max(1, total))
            _append(tasks[number], name, place, piece)
            done += piece.bytes
            place += 1
    return [Task(parts, hot) for parts in tasks if parts]


def _append(parts: list[Part], name: str, place: int, piece: Piece) -> None:
    if parts and parts[-1].stream == name and parts[-1].pieces:
        parts[-1] = Part(name, parts[-1].place, (*parts[-1].pieces, piece))
    else:
        parts.append(Part(name, place, (piece,)))
