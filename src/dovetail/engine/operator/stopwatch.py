"""Who tells an engine how long its work takes."""

from typing import Protocol

from dovetail.engine.block.block import Block


class Stopwatch(Protocol):
    """Measures how long joining a block takes: by a clock, or by a simulation's own reckoning."""

    every: bool  # whether it wants to see every block, not only those that statistics look at closely

    def begin(self) -> None:
        """A block is about to be joined."""

    def split(self) -> float:
        """The seconds since it began."""

    def end(self, stream: str, block: Block) -> float:
        """It has been; returns the seconds it took."""
