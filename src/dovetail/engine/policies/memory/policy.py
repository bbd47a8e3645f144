"""Keeping an engine inside its memory: asked before a batch, after each block, and before anything is forgotten.

``Unlimited`` is the policy of a query without a memory budget, and the base of those that change only some of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from dovetail.engine.buffer.section import Section
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.policies.stages import Rows

Incoming = Mapping[str, pa.Table | pa.RecordBatch]
Reach = Mapping[str, int]


def others(reach: Reach, name: str) -> int:
    """The earliest time that any other stream may still bring."""
    return min(time for other, time in reach.items() if other != name)


class MemoryPolicy(Protocol):
    """What an engine tells its policy; ``reach`` is the earliest time each stream may still bring."""

    def admit(self, incoming: Incoming) -> None:
        """A batch is about to come; BudgetError if it cannot, and then nothing has changed."""

    def shown(self, name: str, first: int) -> None:
        """A block of tuples stored ahead, the first of them under this id, is seen from now on."""

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """These results were made, for the queries in these places if there are several."""

    def work(self, pending: Mapping[str, int]) -> Rows:
        """A block was joined, or a call is about to end: make room; results that were owed come out.

        ``pending``: the time of the next tuple of each stream that this batch still has.
        """

    def held_back(self, reach: Reach) -> Reach:
        """How far the streams count as having come, as long as joins are owed."""

    @property
    def owes(self) -> bool:
        """Whether joins are owed."""

    def settling(self, reach: Reach) -> Reach:
        """The same, for what is about to be given out and forgotten."""

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """It is this time; so many rows have come of each stream."""

    def share(self, load: float) -> None:
        """So many times the budget is this engine's, beside others that have less."""

    def awaits(self) -> bool:
        """Whether it would matter to be told the time."""

    def close(self) -> None:
        """All is done: leave nothing behind."""

    def sections(self) -> Sequence[Section]:
        """Its part of the state."""

    def metrics(self) -> dict[str, Any]:
        """The account under the key ``memory``; empty without a limit."""


class Unlimited:
    """No limit: nothing is refused, moved out or put off."""

    def admit(self, incoming: Incoming) -> None:
        """Every batch may come."""

    def shown(self, name: str, first: int) -> None:
        """Nothing to note."""

    def see(self, results: Partial, places: Ids | None = None) -> None:
        """Nothing to count."""

    def work(self, pending: Mapping[str, int]) -> Rows:
        """No room to make, no results owed."""
        return iter(())

    def held_back(self, reach: Reach) -> Reach:
        """No joins are owed."""
        return reach

    @property
    def owes(self) -> bool:
        """No joins are."""
        return False

    def settling(self, reach: Reach) -> Reach:
        """No joins are owed."""
        return reach

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """Nothing depends on time."""

    def share(self, load: float) -> None:
        """There is no limit to share."""

    def awaits(self) -> bool:
        """No work is put off."""
        return False

    def close(self) -> None:
        """Nothing to remove."""

    def sections(self) -> Sequence[Section]:
        """No state of its own."""
        return ()

    def metrics(self) -> dict[str, Any]:
        return {}
