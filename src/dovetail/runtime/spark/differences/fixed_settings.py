"""Some sessions may be asked about their settings, and not told.

Those of declarative pipelines (Spark 4.1 and later), and on managed platforms settings that their administrator fixed.

    pyspark.errors.PySparkException: [SESSION_MUTATION_IN_DECLARATIVE_PIPELINE.SET_RUNTIME_CONF]
"""

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


def set_if_allowed(session: SparkSession, key: str, value: str) -> bool:
    """Change a setting; False if the session does not let us, and it stays as it is."""
    try:
        session.conf.set(key, value)
    except PySparkException:
        return False
    return True
