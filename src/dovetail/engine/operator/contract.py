"""The contract of operators: engine, tree of engines, group of queries, groups side by side.

This is all that is known of them above. An operator joins batches of columns; it knows no Spark, no clock and no
threads. Its state is slices plus a header.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from dovetail.engine.admit.door import Lateness
from dovetail.engine.admit.inputs import Batch, Spans
from dovetail.engine.buffer.section import Changes
from dovetail.engine.operator.readings import Readings
from dovetail.engine.policies.stages import Rows
from dovetail.model.decision import Decision
from dovetail.model.stream import Stream


class SideOutput(Protocol):
    """Rows that did not come in: late ones, and those without a time, too far ahead, or of a batch that failed."""

    def table(self) -> pa.Table:
        """The rows that nobody has taken yet."""

    def drain(self) -> pa.Table:
        """The same; they are forgotten here."""

    def failed(self, stream: Stream, rows: pa.Table, error: Exception) -> None:
        """Keep the rows of a batch that could not be joined."""


class Operator(Protocol):
    """What a runtime drives. The rows of a call must be read to its end; some batches may be empty."""

    def push(
        self, blocks: Mapping[str, Batch], newest: Mapping[str, int] | None = None, spans: Spans | None = None
    ) -> Rows:
        """One batch of one or several streams; rows that do not fit are found before anything has changed.

        ``newest`` and ``spans`` give the streams' largest times, and all of their times, if known from elsewhere.
        """

    def advance(self, name: str, time_us: int) -> Rows:
        """Nothing older than this will come from the stream."""

    def tick(self, now_us: int) -> Rows:
        """It is now this time."""

    def close(self) -> Rows:
        """Nothing will come any more from any stream."""

    def statistics(self) -> tuple[Readings, ...]:
        """What control and reports may read, one for every engine inside."""

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""

    def state(self) -> Changes:
        """All of the state, without taking note of having written it."""

    def apply(self, changes: Changes) -> None:
        """Take over what another operator of the same plan did to the same state."""

    @property
    def diverted(self) -> SideOutput:
        """The rows that did not come in and that nobody has taken yet."""

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""

    def awaits(self, now_us: int) -> bool:
        """Whether it would matter to be told the time: a stream is silent for too long, or rows wait for CPU time."""

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""

    @property
    def frontier(self) -> int:
        """No stream will send anything older, and no result before it is still owed."""


class Steerable(Operator, Protocol):
    """An operator with one plan, which control may change."""

    def adopt(self, decision: Decision) -> None:
        """Go on as decided, from the next block on: the only way to change anything while it runs."""
