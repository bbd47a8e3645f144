"""The policy "fail" of an as-of join: a batch that would not fit is refused.

It counts what an as-of join holds: the rows that may be an answer, by key, those that wait, and results held for their
order.
"""

from typing import Any

from dovetail.engine.policies.asof.holdings import Holdings
from dovetail.engine.policies.asof.policy import AllInMemory
from dovetail.engine.policies.memory.policy import Incoming
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget, Tuples


class Limit(AllInMemory):
    """How much may be held, in bytes or in tuples."""

    def __init__(self, budget: Budget, holdings: Holdings) -> None:
        memory = budget.memory
        assert memory is not None
        self._budget, self._holdings = budget, holdings
        self._in_tuples = isinstance(memory, Tuples)
        self._most = memory.count if isinstance(memory, Tuples) else memory

    @property
    def _held(self) -> int:
        return self._holdings.tuples if self._in_tuples else self._holdings.nbytes

    def admit(self, incoming: Incoming) -> None:
        """BudgetError if a batch does not fit beside what is held; nothing has changed then."""
        held = self._held
        after = held + sum(rows.num_rows if self._in_tuples else rows.nbytes for rows in incoming.values())
        if after > self._most:
            rows = ", ".join(f"{table.num_rows} rows of {name!r}" for name, table in incoming.items())
            raise BudgetError(
                f"a batch of {rows} would bring what is held from {held:,} to about {after:,}, and the budget "
                f"is {self._budget}. Nothing has changed: push less at a time, give more memory or a shorter "
                "tolerance, or take policy='spill'."
            )

    def metrics(self) -> dict[str, Any]:
        """How much is held, of how much."""
        return {"policy": "fail", "limit": self._most, "held": self._held}
