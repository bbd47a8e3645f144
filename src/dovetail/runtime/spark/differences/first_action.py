"""A join of tables as the very first action of a session fails on Spark 4.1 and 4.2.

    org.apache.spark.SparkException: Cannot find endpoint: StateStoreCoordinator

Those versions start the coordinator of state stores with the manager of streaming queries, which starts when it is
first asked for. So it is asked for its queries, of which there may be none.
"""

from pyspark.sql import SparkSession

from dovetail.runtime.spark.differences.version import spark_version

_LAZY = ((4, 1), (4, 2))  # versions that start it with the first streaming query


def start_coordinator(session: SparkSession) -> None:
    """State stores may be used from now on, whether any query streams or not."""
    if spark_version(session.version) in _LAZY:
        list(session.streams.active)
