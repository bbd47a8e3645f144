"""Where the tuples of a stream stand: in the window in memory, or in parts on disk, read back one at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dovetail.engine.buffer.window import Window
from dovetail.engine.deliver.unmatched import Keeper


@dataclass(frozen=True)
class Place:
    """Tuples that stand together, and who notes what becomes of them."""

    window: Window
    keepers: Sequence[Keeper]


Members = Mapping[str, Place]  # of combinations: where their tuple of each stream is
Elsewhere = Callable[[str, Members], Iterator[AbstractContextManager[Place]]]  # of a stream, all that may meet members


def windows_of(members: Members) -> dict[str, Window]:
    """The windows in which members stand."""
    return {name: place.window for name, place in members.items()}
