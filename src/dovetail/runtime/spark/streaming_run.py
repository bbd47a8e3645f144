"""What a task knows of the streaming query it works for, from the properties that Spark sends along with every task.

    query_id           the same as long as the checkpoint is; two sinks of one DataFrame have two
    state_partitions   Spark keeps the number of a query's first start in the checkpoint and goes on with it,
                       whatever the session says by now

A query over tables at rest has no id, and whatever number of partitions the session has.
"""

from pyspark import TaskContext

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
STATE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"  # what Spark restores, from 4.1 on
_QUERY_ID, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


def query_id() -> str:
    """The id of the streaming query, or nothing."""
    return _property(_QUERY_ID) or ""


def batch_number() -> int | None:
    """The number of the batch, the same when it is repeated."""
    found = _property(_BATCH)
    return int(found) if found else None


def state_partitions(planned: int) -> int:
    """How many partitions the state of this query has; ``planned`` if there is no streaming query."""
    if not query_id():
        return planned
    return int(_property(STATE_PARTITIONS) or _property(SHUFFLE_PARTITIONS) or planned)


def _property(name: str) -> str | None:
    context = TaskContext.get()
    return context.getLocalProperty(name) if context else None
