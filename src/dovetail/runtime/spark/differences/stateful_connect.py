"""Through Spark Connect, Spark 4.0 has no stateful operator in Python; it came with 4.1.

    AttributeError: 'GroupedData' object has no attribute 'transformWithStateInPandas'

Platforms bring it along with a 4.0 of theirs, so the object is asked and not the version.
"""

from typing import Any

from pyspark.sql import DataFrame

from dovetail.errors import PlanError


def stateful(rows: DataFrame, key: str) -> Any:
    """The rows by key, with the method that makes a stateful operator; PlanError if this session has none."""
    grouped = rows.groupBy(key)
    if not hasattr(grouped, "transformWithStateInPandas"):
        raise PlanError(
            f"Spark {rows.sparkSession.version} has no stateful operators through Spark Connect; take a classic "
            "session, or Spark 4.1 or later"
        )
    return grouped
