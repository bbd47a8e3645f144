"""How much memory an engine holds: windows with their indexes, input that waits, output that is held.

    stored tuples     columns, derived numbers, clocks, notes, hash chains, sorted runs
    waiting, held     rows of the gate and of the hold, results that sliding aggregates count
    diverted          late rows that nobody has taken yet
    repeats           ids of rows that may be repeated

Bytes are about those that the process uses (``Window.resident``). A budget in tuples counts stored tuples and nothing
else; to refuse a batch, also those that wait: they will be stored, and then it is too late.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from dovetail.engine.admit.inputs import Inputs
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.policies.stages import Stages
from dovetail.model.budget import Tuples

_INDEX_BYTES = 24  # per tuple of a window that is still empty: chains, clock, derived numbers
_LATE_BYTES = 9  # per diverted row beside its columns: how late it was, whether that is known


class Account:
    """What is held, in bytes or in tuples, beside the limit."""

    def __init__(self, stages: Stages, memory: int | Tuples) -> None:
        self._stages = stages
        self._tuples = isinstance(memory, Tuples)
        self._given = self.limit = memory.count if isinstance(memory, Tuples) else memory

    def share(self, load: float) -> None:
        """So much of what was given is this engine's."""
        self.limit = max(1, int(load * self._given))

    def held(self) -> int:
        """Everything."""
        return sum(map(self.stored, self._stages.store.windows)) + self.given_later()

    def stored(self, name: str) -> int:
        """One stream's window."""
        window = self._stages.store.windows[name]
        return len(window) if self._tuples else window.resident

    def per_tuple(self, name: str) -> float:
        """Of one stream's window, for each tuple."""
        return max(1.0, self.stored(name) / max(1, len(self._stages.store.windows[name])))

    def given_later(self) -> int:
        """Input that waits, output that is held, rows that were diverted; of a budget in tuples no part."""
        inputs = self._stages.inputs
        return 0 if self._tuples else held_bytes(inputs, self._stages.exit.holds)

    def waiting(self) -> int:
        """Tuples that wait for their turn to be stored; of a budget in bytes ``given_later`` has them."""
        return self._stages.inputs.gate.waiting if self._tuples else 0

    def diverted(self) -> int:
        """Late rows that nobody has taken; of a budget in tuples no part."""
        return 0 if self._tuples else self._stages.inputs.diverted.nbytes

    def held_output(self) -> int:
        """Output that waits for its order; of a budget in tuples no part."""
        return 0 if self._tuples else sum(hold.nbytes for hold in self._stages.exit.holds)

    def after(self, incoming: Mapping[str, pa.Table | pa.RecordBatch]) -> int:
        """What would be held if these rows were stored and none expired."""
        return self.given_later() + sum(
            self._grown(name, incoming[name]) if name in incoming else self.stored(name)
            for name in self._stages.store.windows
        )

    def _grown(self, name: str, rows: pa.Table | pa.RecordBatch) -> int:
        window, more = self._stages.store.windows[name], rows.num_rows
        if self._tuples:
            return int(len(window) + more)
        stored = window.resident_with(more, rows.nbytes + _INDEX_BYTES * more)
        diverted = rows.nbytes + _LATE_BYTES * more if self._stages.inputs.diverted.wanted else 0
        return max(stored, window.resident + diverted)  # all of them may be late


def held_bytes(inputs: Inputs, holds: Sequence[Hold]) -> int:
    """Bytes of rows on their way in and out, of results that aggregates count, of rows outside, and of repeats' ids."""
    waiting = sum(pile.nbytes for pile in inputs.gate.piles.values()) + inputs.repeats_bytes
    parts = [(hold, each) for hold in holds for each in hold.sections()]
    counted = sum(each.nbytes for hold, each in parts if isinstance(each, Pile) and each is not hold.pile)
    return waiting + sum(hold.nbytes for hold in holds) + inputs.diverted.nbytes + counted


def take_them(diverted: int) -> str:
    """What a message about too little memory says of diverted rows, if there are any."""
    return (
        f" {diverted:,} of it are diverted rows: run.take_late() gives them to you and frees them." if diverted else ""
    )
