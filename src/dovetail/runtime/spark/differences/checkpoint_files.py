"""What renames files of a checkpoint by a call of the system has moved: another package from Spark 4.1 on.

The manager that Spark takes by default starts a process to look for links, for every file that it renames.
"""

_PLACE = "org.apache.spark.sql.execution.streaming"
_NAME = "FileSystemBasedCheckpointFileManager"


def renaming_manager(spark: tuple[int, int]) -> str:
    """The name of the class in this version of Spark."""
    return f"{_PLACE}.{_NAME}" if spark < (4, 1) else f"{_PLACE}.checkpointing.{_NAME}"
