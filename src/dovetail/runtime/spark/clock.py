"""The time of day for queries that depend on it: streams that may fall silent, CPU budgets.

    A at 10:00, B silent, idle="20 seconds"     rows wait for B
    10:00:25, no data                           the clock ticks, so Spark runs a batch; B's watermark follows A's

A clock is one more source of the pipeline, of rows that say nothing; the time itself is that of the batch, which is
the same if the batch is repeated. A source, and not Spark's own timers: where there may be timers Spark runs batch
after batch, whether any is set or not, and never comes to the end of ``trigger(availableNow=True)``. Such a run takes
the ticks that are due when it starts, and ends: what still waits stays in the checkpoint for the next.

Spark asks for ticks in processes of its own, so this must be quick to import.
"""

from collections.abc import Iterator, Sequence
from time import time
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dovetail.model.query import JoinQuery

_SOONEST_S = 0.5  # about what a micro-batch takes
_PER_IDLE = 4  # a silent stream is noticed after its idle time and at most a quarter more


def tick_every_s(query: "JoinQuery") -> float | None:
    """How often a query must look at the clock; None if nothing depends on it."""
    if query.budget is not None and query.budget.cpu is not None:
        return _SOONEST_S
    idle = [stream.idle_us for stream in query.streams if stream.idle_us is not None]
    return max(_SOONEST_S, min(idle) / 1e6 / _PER_IDLE) if idle else None


def clock(session: "SparkSession", every_s: float) -> "DataFrame":
    """A stream with a row every so often."""
    session.dataSource.register(Clock)
    return session.readStream.format(Clock.name()).option("every", str(every_s)).load()


class Clock(DataSource):
    """Spark's way to a clock."""

    @classmethod
    def name(cls) -> str:
        """The format to ask for."""
        return "dovetail_clock"

    def schema(self) -> str:
        """A row has one column, because it must have one."""
        return "tick long"

    def streamReader(self, schema: Any) -> "Ticks":  # noqa: N802
        """Spark calls this."""
        return Ticks(float(self.options["every"]))


class Ticks(DataSourceStreamReader):
    """Whole multiples of the interval, counted from 1970; those that were missed count as one."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """A new query starts now."""
        return self._now()

    def latestOffset(self, start: Any, limit: Any) -> dict[str, int]:  # noqa: N802
        """How far the clock is; it never goes back, though the machine's may."""
        return {"tick": max(start["tick"], self._now()["tick"])}

    def _now(self) -> dict[str, int]:
        return {"tick": int(time() // self._every_s)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """One row, however long it has been."""
        return [InputPartition(end["tick"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        """The row."""
        yield (partition.value,)
