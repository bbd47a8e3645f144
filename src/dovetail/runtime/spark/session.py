"""A Spark session fit for joins: made here, or checked if it was made elsewhere.

Every setting has a reason: workers must run this very interpreter, the stateful operator needs the
RocksDB state store (with changelog checkpoints a batch uploads what changed), rows are handed over by number and not
by bytes (to count bytes Spark asks every column for its size after every row, which takes longer than copying the
row does), Arrow's Java side need not check the bounds of every value that Spark asks for in turn, files of a checkpoint
are renamed by a call of the system and have one checksum, that of the file system, instead of a second file each with
another, rows go to workers through sockets of the system instead of the network's (both from Spark 4.1 on; others
ignore it), workers and all other Python processes are forked from one that has imported what they need
(``fork_server``), and Java maps the classes that it has loaded before (``class_archive``). Tracebacks are whole,
because packers and the operator are to share workers: Spark keeps two sets of them where one has short tracebacks, and
its stateful operator never has.
"""

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib.metadata import PackageNotFoundError, version
from threading import Thread

import pyarrow as pa
import pyspark
from pyspark.sql import SparkSession

from dovetail.errors import PlanError
from dovetail.runtime.spark.chatter import chatter
from dovetail.runtime.spark.class_archive import archive_options
from dovetail.runtime.spark.differences.checkpoint_files import renaming_manager
from dovetail.runtime.spark.differences.fixed_settings import set_if_allowed
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.runtime.spark.forking import forking
from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS, STATE_PARTITIONS

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
RECORDS, BYTES = (f"spark.sql.execution.arrow.{limit}PerBatch" for limit in ("maxRecords", "maxBytes"))
CHECKSUMS = "spark.sql.streaming.checkpoint.fileChecksum.enabled"
CHECKPOINT_FILES = "spark.sql.streaming.checkpointFileManagerClass"
ROCKSDB_PROVIDER = "RocksDBStateStoreProvider"  # platforms have their own, of this name and in another package
ROCKSDB = f"org.apache.spark.sql.execution.streaming.state.{ROCKSDB_PROVIDER}"
OLDEST, TOO_NEW = (4, 0), (5, 0)  # versions that are tested; 4.x removes nothing
MANY_PARTITIONS = 64  # each costs files and a task per batch; from here on that is most of it
# see above; the last is Spark's own default
AT_ONCE, UNCOUNTED, SPARKS_BYTES = 1_024, str((1 << 31) - 1), str(64 << 20)
NO_THREADS = {"OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
PYTHONS = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")  # what a context takes as Python when it is made
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
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    for key, value in {**_settings(cores), **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        with chatter.sent_away() if quiet else nullcontext(), _without_threads(), _forked():
            session = _checked_java(builder.getOrCreate())
    except Exception as error:
        if quiet:
            error.add_note(f"What Spark said is in {chatter.keep()}")
        raise
    Thread(target=_wake_workers, args=(session, cores), name="dovetail wakes workers", daemon=True).start()
    return session


@contextmanager
def _without_threads() -> Iterator[None]:
    """For processes that are started inside: libraries start no threads of their own; ``daemon`` says what for."""
    missing = {name: value for name, value in NO_THREADS.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@contextmanager
def _forked() -> Iterator[None]:
    """A context that is made inside has its Python processes forked."""
    os.environ.update(dict.fromkeys(PYTHONS, forking().python))
    try:
        yield
    finally:
        os.environ.update(dict.fromkeys(PYTHONS, sys.executable))


def _wake_workers(session: SparkSession, cores: int) -> None:
    """Workers import while the program goes on to say what it wants; if the session ends meanwhile, so be it."""
    with suppress(Exception):
        session.range(0, cores, 1, cores).mapInArrow(_same, "id long").collect()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def _settings(cores: int) -> dict[str, str]:
    return {
        SHUFFLE_PARTITIONS: str(cores),
        PROVIDER: ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        RECORDS: str(AT_ONCE),
        BYTES: UNCOUNTED,
        "spark.driver.extraJavaOptions": f"{UNCHECKED} {archive_options()}".strip(),
        "spark.python.daemon.module": "dovetail.runtime.spark.daemon",
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
        "spark.python.unix.domain.socket.enabled": "true",
        CHECKSUMS: "false",
        CHECKPOINT_FILES: renaming_manager(spark_version(pyspark.__version__)),
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
    _check_state_store(session)
    _check_partitions(session)


def _check_versions(spark: str) -> None:
    if not OLDEST <= spark_version(spark) < TOO_NEW:
        raise PlanError(f"Spark is {spark}, and joins need Spark 4.0 or later, below 5; pip install 'pyspark>=4,<5'")
    for package in ("pyarrow", "protobuf"):
        _installed(package)
    if int(_installed("pandas").split(".")[0]) >= 3:
        raise PlanError(f"pandas {version('pandas')} breaks parts of Spark 4; pip install 'pandas<3'")


def _checked_java(session: SparkSession) -> SparkSession:
    """Asked of a session that is ours, without a query: a first one takes seconds. Others chose their Java."""
    java = session.sparkContext._jvm  # noqa: SLF001  (PySpark has no public name for it)
    found = str(java.java.lang.System.getProperty("java.version"))  # type: ignore[union-attr]
    if found.split(".")[0] not in ("17", "21"):
        session.stop()
        raise PlanError(f"Spark runs on Java {found}, and Spark 4 needs Java 17 or 21; set JAVA_HOME to one of them")
    return session


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as missing:
        raise PlanError(
            f"{package} is not installed, and joins on Spark need it; pip install 'dovetail[spark]'"
        ) from missing


def _check_state_store(session: SparkSession) -> None:
    """The provider may be chosen until a query starts, so choose it rather than complain."""
    found = session.conf.get(PROVIDER, None) or "not set"
    if not found.endswith(ROCKSDB_PROVIDER) and not set_if_allowed(session, PROVIDER, ROCKSDB):
        raise PlanError(
            f"{PROVIDER} is {found}, and this session does not let a program change it; "
            f"set it to {ROCKSDB} where the session or pipeline is configured"
        )


def count_bytes(session: SparkSession) -> None:
    """Rows may be large after all: hand them over by bytes as well, as Spark does by itself."""
    if session.conf.get(BYTES, None) == UNCOUNTED:
        set_if_allowed(session, BYTES, SPARKS_BYTES)


def planned_partitions(session: SparkSession) -> int:
    """How many partitions the state of a query will have that starts now, from a new checkpoint."""
    found = session.conf.get(STATE_PARTITIONS, None) or session.conf.get(SHUFFLE_PARTITIONS) or "1"
    if not found.isdigit():  # Databricks takes "auto"
        raise PlanError(f"{SHUFFLE_PARTITIONS} is {found!r}, and state needs a number; set it to about two per core")
    return int(found)


@contextmanager
def few_partitions(session: SparkSession, asked: int | None) -> Iterator[None]:
    """For a query that is started inside: as many partitions as it asks for, or as there are cores, if there are more.

    A query keeps the number it was started with, and a checkpoint its own; the session is as it was afterwards.
    """
    before = session.conf.get(SHUFFLE_PARTITIONS) or ""
    wanted = asked or _cores(session)
    if session.conf.get(STATE_PARTITIONS, None) or not before.isdigit() or not wanted or int(before) <= wanted:
        yield
        return
    session.conf.set(SHUFFLE_PARTITIONS, str(wanted))
    try:
        yield
    finally:
        session.conf.set(SHUFFLE_PARTITIONS, before)


def _cores(session: SparkSession) -> int | None:
    """How many tasks run at once; None where the session does not tell (Spark Connect)."""
    try:
        return int(session.sparkContext.defaultParallelism)
    except Exception:
        return None


def _check_partitions(session: SparkSession) -> None:
    partitions = planned_partitions(session)
    if partitions > MANY_PARTITIONS:
        warnings.warn(
            f"spark.sql.shuffle.partitions is {partitions}: every micro-batch starts that many tasks per step; "
            "two per core are plenty, so set it lower before the query first starts (a checkpoint keeps its number)",
            stacklevel=2,
        )
