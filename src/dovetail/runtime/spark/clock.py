"""The time of day for queries that depend on it: streams that may fall silent, CPU budgets, joins from disk.

    A at 10:00, B silent, idle="20 seconds"     rows wait for B
    10:00:21, no data                           the clock ticks, so Spark runs a batch; B's watermark follows A's

What has been spilled is joined while inputs pause, and a pause is noticed by the ticks in it.

A clock is one more source of the pipeline, of rows that say nothing; the time itself is that of the batch, which is
the same if the batch is repeated. A source, and not Spark's own timers: where there may be timers Spark runs batch
after batch, whether any is set or not, and never comes to the end of ``trigger(availableNow=True)``. Such a run takes
the ticks that are due when it starts, and ends: what still waits stays in the checkpoint for the next.

It is Spark's own source of a row per second. One written in Python could tick at leisure, but Spark would start two
more processes with every query, and give up on them after ten seconds.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dovetail.model.query import JoinQuery

_RECENT = "INTERVAL 1 MINUTE"  # after a long pause there is a row for every second of it, and one would do


def needs_clock(query: JoinQuery) -> bool:
    """Whether anything depends on the time of day."""
    may_be_silent = any(stream.idle_us is not None for stream in query.streams)
    budget = query.budget
    return may_be_silent or (budget is not None and (budget.cpu is not None or budget.policy == "spill"))


def clock(session: SparkSession) -> DataFrame:
    """A stream of at least one row in every batch that a second has passed before."""
    ticks = session.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1).load()
    return ticks.where(F.col("timestamp") > F.current_timestamp() - F.expr(_RECENT))
