"""Leaving out work when CPU time is short: asked at the door, by the probes and at the exit.

``KeepAll`` is the policy of a query without a CPU budget.
"""

from collections.abc import Sequence
from typing import Protocol

from dovetail.engine.admit.door import Columns, Times
from dovetail.engine.admit.gate import Gate
from dovetail.engine.block.block import Block
from dovetail.engine.buffer.section import Section
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.model.shedding import Shed


class ShedPolicy(Protocol):
    """``paced``: rows wait at the gate until there is time; ``span_us``: how much event time is joined at once."""

    paced: bool

    @property
    def span_us(self) -> int: ...

    def let_in(self, name: str, columns: Columns, times: Times, room: int | None) -> tuple[Columns, Times]:
        """The admitted rows that are not dropped at the door; ``room``: how many more may wait (None: all)."""

    def marked(self, name: str, block: Block) -> Block:
        """A block of a row window, whose tuples count even if they are left out: some of them cannot match."""

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """Results of the block that probes now, for the queries in these places if there are several."""

    def follow(self, decision: Shed, gate: Gate) -> None:
        """Go on with another decision; what waits at the gate is thinned like what will come."""

    def sections(self) -> Sequence[Section]:
        """Its part of the state."""


class KeepAll:
    """Nothing is left out and nothing waits."""

    paced = False
    span_us = 0

    def let_in(self, name: str, columns: Columns, times: Times, room: int | None) -> tuple[Columns, Times]:
        return columns, times

    def marked(self, name: str, block: Block) -> Block:
        return block

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """Nothing to learn."""

    def follow(self, decision: Shed, gate: Gate) -> None:
        """There is nothing to decide."""

    def sections(self) -> Sequence[Section]:
        return ()
