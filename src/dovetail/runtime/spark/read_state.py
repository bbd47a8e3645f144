"""The state of a checkpoint, bucket by bucket, through Spark's own reader of state stores.

    buckets = read_state(session, "alarms.checkpoint")
    buckets[0][3].changes    slices and header of bucket 3 of the first operator

A query of several operators (a tree) has a state store for each. Nothing in the checkpoint is changed.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dovetail.engine.buffer.section import Changes, SliceKey, Slices
from dovetail.errors import StateError
from dovetail.runtime.spark.state import read_head, read_slice


@dataclass(frozen=True)
class BucketRead:
    """One bucket: the query that wrote it, and all of its state."""

    fingerprint: str
    origin: str
    changes: Changes


def read_state(session: SparkSession, checkpoint: str | Path) -> list[dict[int, BucketRead]]:
    """The buckets of every operator; StateError if the folder is no checkpoint of a Dovetail query."""
    return [_buckets(session, str(checkpoint), operator) for operator in operators_of(session, str(checkpoint))]


def operators_of(session: SparkSession, checkpoint: str) -> list[int]:
    """The numbers of the operators that have state of a Dovetail query."""
    operators = [number for number in _operators(session, checkpoint) if _has_head(session, checkpoint, number)]
    if not operators:
        raise StateError(f"{checkpoint} is no checkpoint of a Dovetail query: there is no state of one in it")
    return operators


def _operators(session: SparkSession, checkpoint: str) -> list[int]:
    try:
        rows = session.read.format("state-metadata").load(checkpoint).select("operatorId").distinct().collect()
    except PySparkException as error:
        raise StateError(f"{checkpoint} is no checkpoint that Spark can read: {str(error).splitlines()[0]}") from error
    return sorted(row.operatorId for row in rows)


def _has_head(session: SparkSession, checkpoint: str, operator: int) -> bool:
    try:
        state_variable(session, checkpoint, operator, "head").schema  # noqa: B018  # Spark looks for the variable here
    except PySparkException:
        return False
    return True


def _buckets(session: SparkSession, checkpoint: str, operator: int) -> dict[int, BucketRead]:
    slices: defaultdict[int, Slices] = defaultdict(dict)
    for row in state_variable(session, checkpoint, operator, "slices").collect():
        key: SliceKey = (row.user_map_key.section, row.user_map_key.number)
        slices[_bucket(row)][key] = read_slice(key, row.user_map_value.blob)
    origins = {
        _bucket(row): row.value.query for row in state_variable(session, checkpoint, operator, "origin").collect()
    }
    found = {}
    for row in state_variable(session, checkpoint, operator, "head").collect():
        head, bucket = row.value, _bucket(row)
        header, _ = read_head(head.token, bytes(head.header), head.lineage)
        changes = Changes(slices[bucket], [], header)
        found[bucket] = BucketRead(head.fingerprint, origins.get(bucket, "unknown"), changes)
    return dict(sorted(found.items()))


def state_variable(session: SparkSession, checkpoint: str, operator: int, name: str) -> Any:
    """One of the operator's variables, as Spark shows it."""
    reader = session.read.format("statestore").option("operatorId", operator).option("stateVarName", name)
    return reader.load(checkpoint)


def _bucket(row: Any) -> int:
    return int(row.key[0])
