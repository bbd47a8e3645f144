"""What a source knows of one stream: positions, and the work between two of them."""

from collections.abc import Sequence
from typing import Any, Protocol


class Piece(Protocol):
    """Work that is not divided further; it travels to a task."""

    @property
    def bytes(self) -> int:
        """About how much it is."""


class Feed(Protocol):
    """A stream that can be read again from any position; positions are plain JSON."""

    def initial(self) -> Any:
        """The position of a new checkpoint."""

    def freeze(self) -> None:
        """What comes from now on does not count."""

    def latest(self, start: Any) -> Any:
        """The position after the next batch, the start if nothing is new; after all there is if no start is known."""

    def silent(self, start: Any) -> Any:
        """The position after a batch that has nothing of this stream."""

    def pieces(self, start: Any, end: Any) -> Sequence[Piece]:
        """The work between two positions, in order; the same rows whenever it is asked for."""
