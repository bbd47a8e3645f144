"""A query started into a sink that takes its results as Arrow."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dovetail.errors import PlanError, QueryError
from dovetail.model.kafka import Kafka
from dovetail.model.sinks import Delta, Parquet
from dovetail.plan.physical import Plan
from dovetail.runtime.spark.checkpoint_files import check_open
from dovetail.runtime.spark.pipeline import session_of, spark_join
from dovetail.runtime.spark.session import few_partitions
from dovetail.runtime.spark.sink.delta import DeltaTable
from dovetail.runtime.spark.sink.filed import Place, filed, written
from dovetail.runtime.spark.sink.kafka import KafkaTopic
from dovetail.runtime.spark.sink.parquet import ParquetFolder


def start_write(
    plan: Plan, sink: Any, checkpoint: str, trigger: Mapping[str, Any], session: SparkSession | None, name: str | None
) -> Any:
    """The streaming query that writes the results of a join; PlanError if it has an end."""
    place = place_of(sink, checkpoint, plan)
    check_open(checkpoint)
    session = session or session_of(plan.query)
    with few_partitions(session, plan.query.partitions):
        return _started(plan, place, checkpoint, trigger, session, name)


def _started(
    plan: Plan, place: Place, checkpoint: str, trigger: Mapping[str, Any], session: SparkSession, name: str | None
) -> Any:
    names = spark_join(plan, session, lambda _, ordered: filed(plan.query.schema, ordered, place))
    if not names.isStreaming:
        raise PlanError("write: all inputs are tables; write query.spark() with Spark, or collect() and write that")
    place.tidy()

    def commit(rows: DataFrame, batch: int) -> None:
        place.commit(written(rows), batch)

    writing = names.writeStream.foreachBatch(commit).option("checkpointLocation", checkpoint)
    writing = writing.trigger(**trigger) if trigger else writing
    return (writing.queryName(name) if name else writing).start()


def place_of(sink: Any, checkpoint: str, plan: Plan) -> Place:
    """What is done to a sink; QueryError if it is none."""
    if isinstance(sink, Parquet):
        return ParquetFolder(sink)
    if isinstance(sink, Kafka) and sink.format == "json":
        return KafkaTopic(sink, ParquetFolder(Parquet(f"{checkpoint}/results")))
    if isinstance(sink, Delta):
        return DeltaTable.of(sink, plan.query.schema)
    raise QueryError(
        "write: a sink is made with dovetail.parquet(path), dovetail.delta(path), or dovetail.kafka(servers, topic) "
        f"for JSON, not {sink!r}"
    )
