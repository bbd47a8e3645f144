"""Who keeps an engine inside its memory: asked before a batch, after each block, and before anything is forgotten."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from dovetail.engine.buffer.slices import Section
from dovetail.engine.combine.partial import Partial
from dovetail.engine.policies.memory.insides import Rows

Incoming = Mapping[str, pa.Table | pa.RecordBatch]
Reach = Mapping[str, int]


def others(reach: Reach, name: str) -> int:
    """The earliest time that any other stream may still bring."""
    return min(time for other, time in reach.items() if other != name)


class Keeper(Protocol):
    """What an engine tells it; ``reach`` is the earliest time each stream may still bring."""

    def admit(self, incoming: Incoming) -> None:
        """A batch is about to come; BudgetError if it cannot, and then nothing has changed."""

    def shown(self, name: str, first: int) -> None:
        """A block of tuples stored ahead, the first of them under this id, is seen from now on."""

    def see(self, results: Partial) -> None:
        """These results were made."""

    def work(self, reach: Reach) -> Rows:
        """A block was joined, or a call is about to end: make room; results that were owed come out."""

    def held_back(self, reach: Reach) -> Reach:
        """How far the streams count as having come, as long as joins are owed."""

    def settling(self, reach: Reach) -> Reach:
        """The same, for what is about to be given out and forgotten."""

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """It is this time; so many rows have come of each stream."""

    def close(self) -> None:
        """All is done: leave nothing behind."""

    def sections(self) -> Sequence[Section]:
        """Its part of the state."""

    def account(self) -> dict[str, Any]:
        """What it has counted, as plain values: another part of the state."""

    def resume(self, account: Mapping[str, Any]) -> None:
        """Go on from such an account; empty if the state has none."""

    def metrics(self) -> dict[str, Any]:
        """What it did."""


class Carefree:
    """What a keeper does that puts nothing off and leaves nothing behind: nothing."""

    def shown(self, name: str, first: int) -> None:
        """Nothing to note."""

    def see(self, results: Partial) -> None:
        """Nothing to count."""

    def held_back(self, reach: Reach) -> Reach:
        """Nothing is owed."""
        return reach

    def settling(self, reach: Reach) -> Reach:
        """Nothing is owed."""
        return reach

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """Nothing depends on time."""

    def close(self) -> None:
        """Nothing to leave behind."""

    def sections(self) -> Sequence[Section]:
        """No rows of its own."""
        return ()

    def account(self) -> dict[str, Any]:
        """Nothing was counted."""
        return {}

    def resume(self, account: Mapping[str, Any]) -> None:
        """Nothing to go on from."""
