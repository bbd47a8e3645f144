import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import dovetail as dv
from dovetail.errors import PlanError
from dovetail.runtime.spark import session as checks
from dovetail.runtime.spark.differences.checkpoint_files import renaming_manager
from dovetail.runtime.spark.differences.first_action import start_coordinator
from dovetail.runtime.spark.differences.version import spark_version
from dovetail.runtime.spark.session import (
    BYTES,
    PROVIDER,
    ROCKSDB,
    UNCOUNTED,
    check_session,
    count_bytes,
    planned_partitions,
)
from dovetail.runtime.spark.streaming_run import SHUFFLE_PARTITIONS, STATE_PARTITIONS


class Settings(dict[str, str]):
    def set(self, key: str, value: str) -> None:
        self[key] = value

    @property
    def getAll(self) -> dict[str, str]:  # noqa: N802
        return self


class Fixed(Settings):
    """Of a declarative pipeline, for example."""

    def set(self, key: str, value: str) -> None:
        raise PySparkException(message="session mutation")


def fake(version: str = "4.3.0", conf: type[Settings] = Settings) -> Any:
    def sql(text: str) -> Any:
        raise AssertionError(f"a platform may forbid this: {text}")

    return SimpleNamespace(version=version, conf=conf({"spark.sql.shuffle.partitions": "2"}), sql=sql)


@pytest.mark.parametrize("version", ["3.5.9", "5.0.0"])
def test_another_spark_is_refused(version: str) -> None:
    with pytest.raises(PlanError, match=rf"Spark is {version}, and joins need Spark 4\.0 or later, below 5"):
        check_session(fake(version))


@pytest.mark.parametrize("version", ["4.0.0", "4.1.0-amzn-2", "4.2.1", "4.3.0"])
def test_every_spark_4_is_taken(version: str) -> None:
    check_session(fake(version))


@pytest.mark.parametrize("java", ["11.0.2", "1.8.0_392", "25"])
def test_another_java_is_refused(java: str) -> None:
    ended: list[bool] = []
    system = SimpleNamespace(getProperty={"java.version": java}.get)
    context = SimpleNamespace(_jvm=SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=system))))
    ours = SimpleNamespace(sparkContext=context, stop=lambda: ended.append(True))
    with pytest.raises(PlanError, match=rf"Spark runs on Java {java}, and Spark 4 needs Java 17 or 21"):
        checks._checked_java(ours)  # type: ignore[arg-type]
    assert ended


@pytest.mark.parametrize(("version", "touched"), [("4.0.5", 0), ("4.1.4", 1), ("4.2.1", 1), ("4.3.0", 0)])
def test_the_coordinator_of_state_stores_is_started_where_nobody_else_does(version: str, touched: int) -> None:
    class Streams:
        asked = 0

        @property
        def active(self) -> list[Any]:
            self.asked += 1
            return []

    streams = Streams()
    start_coordinator(SimpleNamespace(version=version, streams=streams))  # type: ignore[arg-type]
    assert streams.asked == touched


def test_files_of_a_checkpoint_are_renamed_by_a_class_that_spark_has(spark: Any) -> None:
    """Another name, and the first query with a checkpoint would not start."""
    found = spark.conf.get(checks.CHECKPOINT_FILES)
    assert found == renaming_manager(spark_version(spark.version))
    spark.sparkContext._jvm.java.lang.Class.forName(found)


def test_a_pandas_too_new_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "version", lambda package: {"pandas": "3.0.1"}.get(package, "99.0"))
    with pytest.raises(PlanError, match=r"pandas 3\.0\.1 breaks parts of Spark 4; pip install 'pandas<3'"):
        check_session(fake())


def test_the_state_store_is_chosen_if_another_was() -> None:
    session = fake()
    check_session(session)
    assert session.conf[PROVIDER] == ROCKSDB


def test_the_state_store_of_a_platform_is_left_alone() -> None:
    session = fake(conf=Fixed)
    session.conf[PROVIDER] = platforms = "com.databricks.sql.streaming.state.RocksDBStateStoreProvider"
    check_session(session)
    assert session.conf[PROVIDER] == platforms


def test_what_cannot_be_changed_is_asked_for() -> None:
    with pytest.raises(PlanError, match=r"providerClass is not set, and this session does not let a program change it"):
        check_session(fake(conf=Fixed))


def test_bytes_stay_uncounted_if_the_session_does_not_let_us() -> None:
    session = fake(conf=Fixed)
    session.conf[BYTES] = UNCOUNTED
    count_bytes(session)
    assert session.conf[BYTES] == UNCOUNTED


def test_bytes_are_counted_where_rows_may_be_large() -> None:
    session = fake()
    count_bytes(session)
    assert BYTES not in session.conf
    session.conf[BYTES] = UNCOUNTED
    count_bytes(session)
    assert int(session.conf[BYTES]) == 64 << 20


@pytest.mark.parametrize(("type_", "large"), [("binary", True), ("list<binary>", True), ("string", False)])
def test_columns_of_bytes_may_be_large(spark: Any, type_: str, large: bool) -> None:
    value = {"binary": pa.binary(), "list<binary>": pa.list_(pa.binary()), "string": pa.string()}[type_]
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": value})
    streams = [dv.stream(name, schema.empty_table(), time="ts", window="1 second") for name in "AB"]
    spark.conf.set(BYTES, UNCOUNTED)
    dv.join(*streams, on="A.k = B.k", select="A.k").spark(spark)
    assert spark.conf.get(BYTES) == UNCOUNTED
    dv.join(*streams, on="A.k = B.k", select="A.k, A.v AS v").spark(spark)
    assert (spark.conf.get(BYTES) == UNCOUNTED) is not large
    spark.conf.set(BYTES, UNCOUNTED)


def test_many_shuffle_partitions_are_worth_a_warning() -> None:
    session = fake()
    session.conf["spark.sql.shuffle.partitions"] = "200"
    with pytest.warns(UserWarning, match="partitions is 200: every micro-batch starts that many tasks"):
        check_session(session)


def test_the_session_is_left_as_it_is(recwarn: pytest.WarningsRecorder) -> None:
    """A number of partitions is the user's choice for all of the session's queries, even if it is Spark's own."""
    session = fake()
    session.conf[SHUFFLE_PARTITIONS] = "200"
    check_session(session)
    assert (session.conf[SHUFFLE_PARTITIONS], STATE_PARTITIONS in session.conf) == ("200", False)
    session.conf[STATE_PARTITIONS] = "3"
    assert planned_partitions(session) == 3


def test_another_python_for_workers_is_worth_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/elsewhere/python")
    with pytest.warns(UserWarning, match="PYSPARK_PYTHON is /elsewhere/python"):
        check_session(fake())


QUIET = """
from dovetail.runtime.spark.session import spark_session
session = spark_session(1)
print(session.range(3).count(), session.conf.get("spark.sql.shuffle.partitions"))
session.stop()
"""


def test_our_own_session_is_quiet() -> None:
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout == "3 1\n"
    assert done.stderr == ""
