"""The policy "fail": stop with BudgetError rather than use more memory than allowed.

A batch that would not fit is refused before anything has changed: the run goes on as if it had not been pushed, and a
smaller one, or one pushed after the windows have moved on, may fit. Output that is held is known only once it is made;
if that grows too large, the run stops in the middle of the batch.

    limit 100 MB, held 90 MB      push of 5 MB: taken      push of 20 MB: BudgetError, and 90 MB are still held
"""

from collections.abc import Mapping
from typing import Any

from dovetail.engine.policies.memory.account import Account, take_them
from dovetail.engine.policies.memory.policy import Incoming, Unlimited
from dovetail.engine.policies.stages import Rows, Stages
from dovetail.errors import BudgetError
from dovetail.model.budget import Budget


class Fail(Unlimited):
    """Refuses what does not fit."""

    def __init__(self, stages: Stages, budget: Budget) -> None:
        assert budget.memory is not None
        self._budget = budget
        self._account = Account(stages, budget.memory)

    def admit(self, incoming: Incoming) -> None:
        """Refuse a batch that would pass the limit."""
        waiting = self._account.waiting()
        held, after = self._account.held() + waiting, self._account.after(incoming) + waiting
        if after > self._account.limit:
            rows = ", ".join(f"{table.num_rows} rows of {name!r}" for name, table in incoming.items())
            raise BudgetError(
                f"a batch of {rows} would bring what is held from {held:,} to about {after:,}, and the budget is "
                f"{self._budget}. Nothing has changed: push less at a time, give it more memory or smaller windows, or "
                f"take policy='spill'.{take_them(self._account.diverted())}"
            )

    def work(self, pending: Mapping[str, int]) -> Rows:
        """Stop if held output has passed the limit."""
        held = self._account.held()
        if held > self._account.limit:
            raise BudgetError(
                f"{held:,} are held ({self._account.held_output():,} of it output that waits for its order), and the "
                f"budget is {self._budget}. Go on from a snapshot with more memory, or without an order."
                f"{take_them(self._account.diverted())}"
            )
        yield from ()

    def share(self, load: float) -> None:
        """More or less of the budget, by the load."""
        self._account.share(load)

    def metrics(self) -> dict[str, Any]:
        """How much is held, of how much."""
        return {"policy": "fail", "limit": self._account.limit, "held": self._account.held() + self._account.waiting()}
