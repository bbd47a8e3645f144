"""How much memory an engine holds: windows with their indexes, input that waits, output that is held.

    stored tuples     columns, derived numbers, clocks, notes, hash chains, sorted runs
    waiting, held     rows of the gate and of the hold, results that sliding aggregates count

Bytes are about those that the process uses (``Window.resident``). A budget in tuples counts stored tuples and nothing
else.
"""

from collections.abc import Mapping

import pyarrow as pa

from dovetail.engine.admit.gate import Gate
from dovetail.engine.buffer.pile import Pile
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.memory.insides import Insides
from dovetail.model.budget import Tuples

_INDEX_BYTES = 24  # per tuple of a window that is still empty: chains, clock, derived numbers


class Account:
    """What is held, in bytes or in tuples, beside the limit."""

    def __init__(self, inside: Insides, memory: int | Tuples) -> None:
        self._inside = inside
        self._tuples = isinstance(memory, Tuples)
        self.limit = memory.count if isinstance(memory, Tuples) else memory

    def held(self) -> int:
        """Everything."""
        return sum(map(self.stored, self._inside.windows)) + self.given_later()

    def stored(self, name: str) -> int:
        """One stream's window."""
        window = self._inside.windows[name]
        return len(window) if self._tuples else window.resident

    def per_tuple(self, name: str) -> float:
        """Of one stream's window, for each tuple."""
        return max(1.0, self.stored(name) / max(1, len(self._inside.windows[name])))

    def given_later(self) -> int:
        """Input that waits and output that is held; of a budget in tuples no part."""
        return 0 if self._tuples else held_bytes(self._inside.gate, self._inside.hold)

    def held_output(self) -> int:
        """Output that waits for its order; of a budget in tuples no part."""
        return 0 if self._tuples else self._inside.hold.nbytes

    def after(self, incoming: Mapping[str, pa.Table | pa.RecordBatch]) -> int:
        """What would be held if these rows were stored and none expired."""
        return self.given_later() + sum(
            self._grown(name, incoming[name]) if name in incoming else self.stored(name)
            for name in self._inside.windows
        )

    def _grown(self, name: str, rows: pa.Table | pa.RecordBatch) -> int:
        window, more = self._inside.windows[name], rows.num_rows
        if self._tuples:
            return int(len(window) + more)
        return window.resident_with(more, rows.nbytes + _INDEX_BYTES * more)


def held_bytes(gate: Gate, hold: Hold) -> int:
    """Bytes of rows on their way in and out."""
    waiting = sum(pile.nbytes for pile in gate.piles.values())
    counted = [each for each in hold.sections() if isinstance(each, Pile) and each is not hold.pile]
    return waiting + hold.nbytes + sum(pile.nbytes for pile in counted)
