"""Keeping an as-of join inside its memory: asked before a batch, after rows were stored and answered, and at the end.

``AllInMemory`` is the policy of a query without a memory budget, and the base of those that change some of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.engine.asof.result import Results
from dovetail.engine.asof.side import Asked
from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.buffer.section import Section
from dovetail.engine.policies.memory.policy import Incoming
from dovetail.engine.policies.stages import Rows


class AllInMemory:
    """No limit: nothing is refused, moved out or put off."""

    @property
    def is_whole(self) -> bool:
        """Whether all rows that may be an answer are in memory."""
        return True

    @property
    def earliest(self) -> int:
        """No row before this is owed its answer for want of memory."""
        return AFTER_ALL

    def admit(self, incoming: Incoming) -> None:
        """A batch is about to come; BudgetError if it cannot, and then nothing has changed."""

    def found(self, asked: Asked) -> npt.NDArray[np.bool_]:
        """Which rows can be answered now."""
        return np.ones(len(asked), np.bool_)

    def work(self, results: Results, end: int) -> Rows:
        """Rows were stored and answered: make room; results that were owed come out."""
        return iter(())

    def tidy(self, since: int) -> None:
        """No row before ``since`` will be asked for."""

    def held_back(self, frontier: int) -> int:
        """How far the streams count as having come, as long as results are owed."""
        return frontier

    def tick(self, now_us: int, arrived: Mapping[str, int]) -> None:
        """It is this time; so many rows have come of each stream."""

    def awaits(self) -> bool:
        """Whether it would matter to be told the time."""
        return False

    def share(self, load: float, weight: float) -> None:
        """Such a part of the query's load is this operator's of late; ``weight``: how much that counts."""

    def agree(self) -> None:
        """Rows that wait have answers if and only if all that may be one is in memory."""

    def close(self) -> None:
        """All is done: leave nothing behind."""

    def sections(self) -> Sequence[Section]:
        """Its part of the state."""
        return ()

    def metrics(self) -> dict[str, Any]:
        """The account under the key ``memory``; empty without a limit."""
        return {}
