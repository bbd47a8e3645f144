"""The memory budget of an operator that has no windows: a batch that would not fit is refused.

Like the policy "fail" of an engine, over what an as-of join holds: the rows that may be an answer, by key, those that
wait, and results held for their order. Other policies would leave a row out, and make another one the answer.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dovetail.errors import BudgetError
from dovetail.model.budget import Budget, Tuples

Incoming = Mapping[str, pa.Table | pa.RecordBatch]


class Limit:
    """How much may be held, in bytes or in tuples."""

    def __init__(self, budget: Budget) -> None:
        memory = budget.memory
        assert memory is not None
        self._budget = budget
        self._in_tuples = isinstance(memory, Tuples)
        self._most = memory.count if isinstance(memory, Tuples) else memory

    def admit(self, incoming: Incoming, held_bytes: int, held_tuples: int) -> None:
        """BudgetError if a batch does not fit beside what is held; nothing has changed then."""
        held = held_tuples if self._in_tuples else held_bytes
        after = held + sum(rows.num_rows if self._in_tuples else rows.nbytes for rows in incoming.values())
        if after > self._most:
            rows = ", ".join(f"{table.num_rows} rows of {name!r}" for name, table in incoming.items())
            raise BudgetError(
                f"a batch of {rows} would bring what is held from {held:,} to about {after:,}, and the budget "
                f"is {self._budget}. Nothing has changed: push less at a time, give more memory or a shorter tolerance."
            )

    def metrics(self, held_bytes: int, held_tuples: int) -> dict[str, Any]:
        """How much is held, of how much."""
        return {"policy": "fail", "limit": self._most, "held": held_tuples if self._in_tuples else held_bytes}
