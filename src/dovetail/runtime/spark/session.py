"""A Spark session fit for joins: made here, or checked if it was made elsewhere.

Every setting has a reason: workers must run this very interpreter, the stateful operator needs the
RocksDB state store (with changelog checkpoints a batch uploads what changed), rows are handed over by number and not
by bytes (to count bytes Spark asks every column for its size after every row, which takes longer than copying the
row does), Arrow's Java side need not check the bounds of every value that Spark asks for in turn, and files of a
checkpoint are renamed by a call of the system: the manager that Spark takes by default starts a process to look for
links, for every file that it renames.
"""

import os
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from pyspark.sql import SparkSession

from dovetail.errors import PlanError
from dovetail.runtime.spark.chatter import chatter
from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS, STATE_PARTITIONS

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
RECORDS, BYTES = (f"spark.sql.execution.arrow.{limit}PerBatch" for limit in ("maxRecords", "maxBytes"))
CHECKPOINT_FILES = "spark.sql.streaming.checkpointFileManagerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SPARK_VERSION = (4, 3)
MANY_PARTITIONS = 64
AT_ONCE, UNCOUNTED, SPARKS_BYTES = 1_024, str((1 << 31) - 1), str(64 << 20)
RENAMING = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
UNCHECKED = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"


def spark_session(
    cores: int | None = None, *, name: str = "dovetail", settings: Mapping[str, str] | None = None, quiet: bool = True
) -> SparkSession:
    """A local session on ``cores`` cores (all by default); ``quiet`` sends Spark's own chatter to a file.

    The chatter (start-up warnings, and lines that the operator's driver-side worker prints whenever a query
    starts) is written by the Java process to the standard error it inherits, so it is sent elsewhere at its start; the
    file is removed when this process ends, unless it ends with an error.
    """
    cores = cores or os.cpu_count() or 1
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    for key, value in {**_settings(cores), **(settings or {})}.items():
        builder = builder.config(key, value)
    if not quiet:
        return builder.getOrCreate()
    try:
        with chatter.sent_away():
            return builder.getOrCreate()
    except Exception as error:
        error.add_note(f"What Spark said is in {chatter.keep()}")
        raise


def _settings(cores: int) -> dict[str, str]:
    return {
        SHUFFLE_PARTITIONS: str(cores),
        PROVIDER: ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        RECORDS: str(AT_ONCE),
        BYTES: UNCOUNTED,
        "spark.driver.extraJavaOptions": UNCHECKED,
        CHECKPOINT_FILES: RENAMING,
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def check_session(session: SparkSession) -> None:
    """PlanError, with what to do, if a session cannot run a join; what can be set on it is set."""
    _check_versions(session.version)
    if os.environ.get("PYSPARK_PYTHON", sys.executable) != sys.executable:
        warnings.warn(
            f"PYSPARK_PYTHON is {os.environ['PYSPARK_PYTHON']}, and this is {sys.executable}: unless they are the same "
            "Python with the same packages, workers fail; set it to sys.executable before the session starts",
            stacklevel=2,
        )
    _check_java(session)
    _check_state_store(session)
    _check_partitions(session)


def _check_versions(spark: str) -> None:
    if tuple(int(part) for part in spark.split(".")[:2]) < SPARK_VERSION:
        raise PlanError(f"Spark {spark} is too old: joins need Spark 4.3 or later; pip install 'dovetail[spark]'")
    for package in ("pyarrow", "protobuf"):
        _installed(package)
    if int(_installed("pandas").split(".")[0]) >= 3:
        raise PlanError(f"pandas {version('pandas')} breaks parts of Spark 4.3; pip install 'pandas<3'")


def _check_java(session: SparkSession) -> None:
    """Asked in SQL, which works through Spark Connect as well."""
    (found,) = session.sql("SELECT java_method('java.lang.System', 'getProperty', 'java.version')").first() or ("",)
    if found.split(".")[0] not in ("17", "21"):
        raise PlanError(f"Spark runs on Java {found}, and Spark 4.3 needs Java 17 or 21; set JAVA_HOME to one of them")


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as missing:
        raise PlanError(
            f"{package} is not installed, and joins on Spark need it; pip install 'dovetail[spark]'"
        ) from missing


def _check_state_store(session: SparkSession) -> None:
    """The provider may be chosen until a query starts, so choose it rather than complain."""
    if session.conf.get(PROVIDER, None) != ROCKSDB:
        session.conf.set(PROVIDER, ROCKSDB)


def count_bytes(session: SparkSession) -> None:
    """Rows may be large after all: hand them over by bytes as well, as Spark does by itself."""
    if session.conf.get(BYTES, None) == UNCOUNTED:
        session.conf.set(BYTES, SPARKS_BYTES)


def planned_partitions(session: SparkSession) -> int:
    """How many partitions the state of a query will have that starts now, from a new checkpoint."""
    return int(session.conf.get(STATE_PARTITIONS, None) or session.conf.get(SHUFFLE_PARTITIONS) or 1)


def _check_partitions(session: SparkSession) -> None:
    partitions = planned_partitions(session)
    if partitions > MANY_PARTITIONS:
        warnings.warn(
            f"spark.sql.shuffle.partitions is {partitions}: every micro-batch starts that many tasks per step; "
            "two per core are plenty, so set it lower before the query first starts (a checkpoint keeps its number)",
            stacklevel=2,
        )
