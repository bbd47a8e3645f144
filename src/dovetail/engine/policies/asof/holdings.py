"""What an as-of join holds in memory: rows that may be an answer, rows that wait, and results held for their order."""

from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.engine.admit.inputs import Inputs
from dovetail.engine.asof.side import Side
from dovetail.engine.asof.waiting import Waiting
from dovetail.engine.buffer.pile import Pile


@dataclass(frozen=True)
class Holdings:
    """The stages of an as-of join that hold rows; ``output``: results that wait for their order."""

    inputs: Inputs
    sides: Mapping[str, Side]
    waiting: Waiting
    output: Pile

    @property
    def stored(self) -> int:
        """Rows that may be an answer, and those whose answers are open."""
        return sum(side.chains.stored for side in self.sides.values()) + len(self.waiting)

    @property
    def tuples(self) -> int:
        """All rows that came in and have not left."""
        return self.stored + self.inputs.gate.waiting

    @property
    def arriving_bytes(self) -> int:
        """Those of rows that wait for their turn."""
        return sum(pile.nbytes for pile in self.inputs.gate.piles.values())

    @property
    def nbytes(self) -> int:
        stored = sum(side.chains.nbytes for side in self.sides.values()) + self.waiting.nbytes
        beside = self.output.nbytes + self.inputs.diverted.nbytes + self.inputs.repeats_bytes
        return stored + beside + self.arriving_bytes
