"""Spark's state store and that of the simulator pass the same checks."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import StructType

from tests.simulation import contract
from tests.simulation.store import PartitionStore, Transaction

_ONE = StructType().add("blob", "binary")
_KEY = StructType().add("section", "string").add("number", "long")


def variables(transaction: Transaction, key: int) -> tuple[Any, Any]:
    transaction.key = (key,)
    return transaction.getValueState("value", _ONE), transaction.getMapState("map", _KEY, _ONE)


def test_the_simulators_store_keeps_the_contract() -> None:
    store = PartitionStore()
    first = store.open(0, executor=0)
    told = [contract.fresh(*variables(first, key)) for key in (1, 2)]
    store.commit(first)
    contract.failing(*variables(store.open(1, executor=0), 1))
    told += [contract.committed(*variables(store.open(1, executor), 1)) for executor in (0, 1)]
    assert all(all(checks.values()) for checks in told), told


def test_of_two_attempts_an_executor_goes_on_with_its_own() -> None:
    store = PartitionStore()
    for executor in (0, 1):
        attempt = store.open(0, executor)
        variables(attempt, 1)[0].update((executor,))
        store.commit(attempt)
    assert [variables(store.open(1, executor), 1)[0].get() for executor in (0, 1, 2)] == [(0,), (1,), (1,)]
    store.lose(0)
    assert variables(store.open(1, 0), 1)[0].get() == (1,)


def test_a_full_disk_is_met_at_the_operation_that_was_named() -> None:
    attempt = PartitionStore().open(0, executor=0, full_at=1)
    value, _ = variables(attempt, 1)
    assert value.get() is None
    with pytest.raises(OSError, match="no space left"):
        value.update((1,))


def checker(failed: Path) -> StatefulProcessor:
    """A processor of Spark that asks for the checks its rows name, and fails once where it is told to."""

    class Checker(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            self._value = handle.getValueState("value", _ONE)
            self._map = handle.getMapState("map", _KEY, _ONE)

        def handleInputRows(  # noqa: N802
            self,
            key: Any,
            rows: Iterable[pd.DataFrame],
            timerValues: Any,  # noqa: N803
        ) -> Iterator[pd.DataFrame]:
            (phase,) = {phase for frame in rows for phase in frame["phase"]}
            if phase == "failing" and not failed.exists():
                contract.failing(self._value, self._map)
                failed.write_text("once")
                raise RuntimeError("an attempt that was told to fail")
            ask = contract.fresh if phase == "fresh" else contract.committed
            told = ask(self._value, self._map)
            yield pd.DataFrame({"what": list(told), "holds": list(told.values())})

        def close(self) -> None:
            """Nothing is open."""

    return Checker()


@pytest.mark.spark
def test_sparks_own_store_keeps_the_contract(spark: Any, tmp_path: Path) -> None:
    cloudpickle.register_pickle_by_value(contract)  # type: ignore[no-untyped-call]

    def run() -> None:
        rows = spark.readStream.schema("key bigint, phase string").parquet(str(tmp_path / "in")).groupBy("key")
        checks = rows.transformWithStateInPandas(
            checker(tmp_path / "failed"), "what string, holds boolean", "Append", "None"
        )
        writing = checks.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        started = writing.option("checkpointLocation", str(tmp_path / "check")).trigger(availableNow=True).start()
        started.awaitTermination()

    (tmp_path / "in").mkdir()
    for number, phase in enumerate(("fresh", "committed", "failing")):
        pq.write_table(pa.table({"key": [1, 2], "phase": [phase] * 2}), tmp_path / "in" / f"{number}.parquet")
        if phase == "failing":
            with pytest.raises(Exception, match="told to fail"):
                run()
        run()
    told = spark.read.parquet(
        str(tmp_path / "out")
    ).collect()  # by the sink's log: one task of the failing batch may write
    assert len(told) == 2 * (6 + 1 + 1)
    assert all(check["holds"] for check in told), told
