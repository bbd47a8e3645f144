"""An engine with its controller: the operator that runtimes drive.

Every call of the engine is metered and followed by decisions; empty batches, which only give control an occasion to
look, do not come out.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dovetail.control.controller import Controller
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.buffer.section import Changes
from dovetail.engine.operator.around import Around
from dovetail.engine.operator.contract import Steerable
from dovetail.engine.operator.engine import Rows
from dovetail.engine.operator.state import read_header
from dovetail.model.decision import Decision
from dovetail.model.query import JoinQuery


class Steered(Around):
    """One steerable operator under control; ``meter`` tells the CPU seconds used so far."""

    operator: Steerable

    def __init__(self, operator: Steerable, query: JoinQuery, meter: Callable[[], float] | None = None) -> None:
        self.operator = operator
        self.controller = Controller(operator, query, meter)

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch; then control decides where the next one waits."""
        return self._driven(lambda: self.operator.push(blocks, newest, spans), finish=True)

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""
        return self._driven(lambda: self.operator.advance(name, time_us))

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""
        self.controller.tick(now_us)
        return self._driven(lambda: self.operator.tick(now_us))

    def close(self) -> Rows:
        """Nothing will come any more; nothing is left to be decided."""
        return (batch for batch in self.operator.close() if batch.num_rows)

    def _driven(self, call: Callable[[], Rows], finish: bool = False) -> Rows:
        self.controller.begin()
        results = call()  # a push finds rows that do not fit here
        return self._steps(results, finish)

    def _steps(self, results: Rows, finish: bool) -> Rows:
        controller = self.controller
        for batch in results:
            controller.step()
            if batch.num_rows:
                yield batch
            controller.begin()  # what the reader of the results does is not the operator's time
        controller.step()
        if finish:
            controller.finish()

    def adopt(self, decision: Decision) -> None:
        """Go on as decided by someone else than the controller."""
        self.operator.adopt(decision)

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far, and the account of a CPU budget."""
        return super().metrics() | self.controller.metrics()

    def changes(self) -> Changes:
        """What to write to a state store since the last call, with what control has learned."""
        return self._with_control(self.operator.changes())

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""
        return self._with_control(self.operator.state())

    def _with_control(self, changes: Changes) -> Changes:
        header = json.loads(changes.header)
        header["sections"][self.controller.section] = self.controller.header()
        return replace(changes, header=json.dumps(header).encode())

    def apply(self, changes: Changes) -> None:
        """Take over what another did to the same state, and what its control had learned."""
        self.operator.apply(changes)
        learned = read_header(changes.header)["sections"].get(self.controller.section)
        if learned:
            self.controller.restore(learned)
