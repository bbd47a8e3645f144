"""Dovetail: windowed joins over any number of streams, embedded or on Apache Spark.

A tuple's way through the package, which is also its map:

    api        stream, join, sql, function: what a user calls
    sql        text -> bound expressions and predicates
    plan       query -> storage per stream, a probe per arriving stream
    runtime    local: in this process; spark: inside Structured Streaming
    engine     admit -> buffer -> combine -> deliver: the path of a block
    dashboard  reports -> the live page; cli: the commands
    testing    the oracle, scenario tables and stream generators, for your own tests too
"""

import dovetail.sql  # noqa: F401  # first, so that the function of that name takes its place below
from dovetail.api import Query, SharedQuery, calibrate, function, join, report, share, spark_metrics, sql, stream, table
from dovetail.errors import (
    BudgetError,
    DataError,
    DovetailError,
    LateRowsWarning,
    PlanError,
    QueryError,
    StateError,
    StreamError,
)
from dovetail.model.asof import AsOf, asof
from dovetail.model.budget import Budget, Tuples, budget, tuples
from dovetail.model.dedup import Dedup, dedup
from dovetail.model.files import Files, files
from dovetail.model.harvest import Harvest, harvest
from dovetail.model.kafka import Kafka, kafka
from dovetail.model.order import Adaptive, adaptive
from dovetail.model.sinks import Delta, Parquet, delta, parquet
from dovetail.model.window import rows, unbounded

__version__ = "0.1.0"

__all__ = [
    "Adaptive",
    "AsOf",
    "Budget",
    "BudgetError",
    "DataError",
    "Dedup",
    "Delta",
    "DovetailError",
    "Files",
    "Harvest",
    "Kafka",
    "LateRowsWarning",
    "Parquet",
    "PlanError",
    "Query",
    "QueryError",
    "SharedQuery",
    "StateError",
    "StreamError",
    "Tuples",
    "adaptive",
    "asof",
    "budget",
    "calibrate",
    "dedup",
    "delta",
    "files",
    "function",
    "harvest",
    "join",
    "kafka",
    "parquet",
    "report",
    "rows",
    "share",
    "spark_metrics",
    "sql",
    "stream",
    "table",
    "tuples",
    "unbounded",
]
