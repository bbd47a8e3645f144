"""Where the tuples of a stream stand: in the window in memory, or in parts on disk, read back one at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from dovetail.engine.buffer.window import Window
from dovetail.engine.deliver.unmatched import Keeper


@dataclass(frozen=True)
class Place:
    """Tuples that stand together, and who notes what becomes of them."""

    window: Window
    keepers: Sequence[Keeper]
    number: int | None = field(default=None, kw_only=True)  # of a part on disk


Members = Mapping[str, Place]  # of combinations: where their tuple of each stream is
# of a stream, all that may meet members and happened between two times
Elsewhere = Callable[[str, Members, int, int], Iterator[AbstractContextManager[Place]]]


def windows_of(members: Members) -> dict[str, Window]:
    """The windows in which members stand."""
    return {name: place.window for name, place in members.items()}
